"""JupyterLab in a real browser: run by `make test-browser`, and not collected by plain pytest."""
