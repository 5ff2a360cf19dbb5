"""How fast agentlab is, beside floors and peers that are measured in the same run.

`python -m tests.benchmarks` prints one table. From the outside in:

- `__main__`: arguments, the table, the JSON
- `figures`: what each row of the table measures, and its target
- `reading`, with `logs` and `log_readers`: the rows on session logs
- `rounds`: fresh processes, interleaved, and what is kept of them
- `child`: what such a process does
- `clocks`: an iteration, a turn, bytes and memory
- `cuts`, `starting`: the two kinds of figure that have nothing to do with a loop
- `policies`: what a session forgets by, while it is timed
- `subjects`: the floor, agentlab and the peers, each driving the same scripted model
- `peers`: the virtual environments that the peers live in

Nothing here asserts a time, and pytest collects nothing of it.
"""
