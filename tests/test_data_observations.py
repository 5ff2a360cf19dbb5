"""The example observations are what their script writes, and their planted facts are where it says."""

from __future__ import annotations

import ast
import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"
FOLDER = DATA / "observations"
SCRIPT = DATA / "make_observations.py"
PLANTED = json.loads((FOLDER / "planted.json").read_text(encoding="utf-8"))
PLACES = ("head", "middle", "end")


def text_of(name: str) -> str:
    return (FOLDER / name).read_bytes().decode()


def test_the_script_writes_the_same_bytes_as_are_there(tmp_path):
    subprocess.run([sys.executable, SCRIPT, "--folder", tmp_path], check=True, capture_output=True)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert written == {path.name: path.read_bytes() for path in FOLDER.iterdir()}


def test_check_says_which_file_differs(tmp_path, capsys):
    main = runpy.run_path(str(SCRIPT))["main"]
    assert main(["--folder", str(tmp_path)]) == 0
    assert main(["--folder", str(tmp_path), "--check"]) == 0
    (tmp_path / "build.log").write_text("changed", encoding="utf-8")
    (tmp_path / "orders.json").unlink()
    capsys.readouterr()
    assert main(["--folder", str(tmp_path), "--check"]) == 1
    told = capsys.readouterr().out
    assert "build.log" in told
    assert "orders.json" in told
    assert "source.py" not in told


@pytest.mark.parametrize("name", sorted(PLANTED))
@pytest.mark.parametrize("place", PLACES)
def test_each_fact_is_there_once_where_it_says(name, place):
    text, fact = text_of(name), PLANTED[name][place]
    assert text.count(fact["code"]) == 1
    assert text.index(fact["code"]) == fact["character"]
    assert fact["code"] in text.split("\n")[fact["line"] - 1]


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_a_cut_that_keeps_500_characters_of_each_end_keeps_two_facts_of_three(name):
    text, planted = text_of(name), PLANTED[name]
    assert [planted["lines"], planted["characters"]] == [text.count("\n"), len(text)]
    assert planted["head"]["code"] in text[:500]
    assert planted["end"]["code"] in text[-500:]
    assert 0.45 < planted["middle"]["character"] / len(text) < 0.55


def test_all_codes_are_distinct():
    codes = [PLANTED[name][place]["code"] for name in PLANTED for place in PLACES]
    assert len(codes) == 15
    assert len(set(codes)) == 15


def test_the_source_file_is_python_with_its_exports_at_the_bottom():
    text = text_of("source.py")
    compile(text, "source.py", "exec")
    module = ast.parse(text)
    assert len(text.splitlines()) >= 300
    assert isinstance(module.body[1], ast.ImportFrom)
    assert isinstance(module.body[-1], ast.Assign)
    assert [target.id for target in module.body[-1].targets] == ["__all__"]
    defined = runpy.run_path(str(FOLDER / "source.py"))
    assert set(defined["__all__"]) <= set(defined)


def test_the_shell_output_has_its_command_first_its_error_amid_and_its_exit_code_last():
    text = text_of("build.log")
    lines = text.splitlines()
    assert lines[0].startswith("$ make")
    assert lines[-1] == "exit code: 2"
    assert 0.4 < text.index("error:") / len(text) < 0.6
    assert 36_000 < len(text) < 44_000


def test_the_response_has_status_headers_and_a_closed_body_of_the_length_it_says():
    head, _, body = text_of("response.http").partition("\n\n")
    status, *headers = head.split("\n")
    assert status == "HTTP/1.1 200 OK"
    fields = dict(line.split(": ", 1) for line in headers)
    assert int(fields["Content-Length"]) == len(body.encode())
    assert body.startswith("<!DOCTYPE html>")
    assert body.endswith("</html>\n")


def test_the_json_is_a_list_of_about_30_kilobytes():
    text = text_of("orders.json")
    orders = json.loads(text)
    assert len(orders) == 240
    assert orders[0]["reference"] == PLANTED["orders.json"]["head"]["code"]
    assert 27_000 < len(text) < 33_000


def test_the_yaml_has_5000_lines_and_about_200_kilobytes():
    text = text_of("services.yaml")
    assert text.count("\n") == 5_000
    assert len(text.splitlines()) == 5_000
    assert 190_000 < len(text.encode()) < 210_000


def test_the_yaml_is_yaml():
    yaml = pytest.importorskip("yaml")
    content = yaml.load(text_of("services.yaml"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    assert content["release"] == PLANTED["services.yaml"]["head"]["code"]
    assert content["footer"]["checksum"] == PLANTED["services.yaml"]["end"]["code"]
    assert len(content["services"]) == 499
