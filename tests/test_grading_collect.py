"""Whatever way a class hands in, each notebook is found once, and its student with it."""

from __future__ import annotations

import zipfile

import pytest

from agentlab.errors import InputError
from agentlab.grading.collect import find
from agentlab.grading.submission import MAX_BYTES

NAMES = ("01_limits", "02_tokens")


def who(folder, *paths, **settings):
    found, problems = find([folder / path for path in paths] or [folder], exercises=NAMES, **settings)
    assert problems == []
    return [each.who for each in found]


def put(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}")
    return folder


def zipped(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    return path


def test_flat_files_are_named_by_what_is_no_exercise_in_their_names(tmp_path):
    put(tmp_path, "01_limits_ada.ipynb", "bob-02_tokens (2).ipynb", "cy.ipynb")
    assert who(tmp_path) == [("ada",), ("bob",), ("cy",)]


def test_files_of_one_folder_are_its_students(tmp_path):
    put(tmp_path, "ada/01_limits.ipynb", "ada/02_tokens.ipynb")
    assert who(tmp_path, "ada") == [("ada",), ("ada",)]


def test_a_folder_per_student_and_no_copies_that_programs_made(tmp_path):
    put(
        tmp_path,
        "ada/01_limits.ipynb",
        "ada/.ipynb_checkpoints/01_limits-checkpoint.ipynb",
        "bob/deep/er/01_limits.ipynb",
    )
    assert who(tmp_path) == [("ada",), ("bob",)]


def test_nbgraders_folder(tmp_path):
    put(tmp_path, "submitted/ada/week1/01_limits.ipynb", "submitted/bob/week1/01_limits.ipynb")
    assert who(tmp_path) == who(tmp_path, "submitted") == [("ada",), ("bob",)]


def test_moodles_zip(tmp_path):
    path = zipped(
        tmp_path / "CS1-week1-4711.zip",
        "Ada Lovelace_815_assignsubmission_file_/01_limits.ipynb",
        "Zoë Strauß_99_assignsubmission_file_01_limits.ipynb",
    )
    assert who(path) == [("Ada Lovelace", "815"), ("Zoë Strauß", "99")]


def test_canvas_zip(tmp_path):
    path = zipped(
        tmp_path / "submissions.zip", "lovelaceada_LATE_42_990_01_limits-1.ipynb", "hoppergrace_7_991_01_limits.ipynb"
    )
    assert sorted(who(path)) == [("hoppergrace", "7"), ("lovelaceada", "42")]


def test_zips_within_a_folder_are_read_and_within_a_zip_are_named(tmp_path):
    zipped(tmp_path / "ada.zip", "work/01_limits.ipynb", "__MACOSX/work/._01_limits.ipynb")
    inner = zipped(tmp_path / "inner.zip", "01_limits.ipynb")
    with zipfile.ZipFile(tmp_path / "bob.zip", "w") as archive:
        archive.write(inner, "mine.zip")
    inner.unlink()
    found, problems = find([tmp_path], exercises=NAMES)
    assert [each.who for each in found] == [("ada",)]
    assert problems == [f"{tmp_path}/bob.zip: holds mine.zip, which is not read: unpack it"]


def test_a_regular_expression_finds_the_student(tmp_path):
    put(tmp_path, "x_u17_01_limits.ipynb", "y.ipynb")
    found = who(tmp_path, id_from=r"_(?P<id>u\d+)_")
    assert found == [("u17",), (f"{tmp_path}/y.ipynb",)]
    assert who(tmp_path, id_from=r"_(u\d+)_")[0] == ("u17",)
    with pytest.raises(InputError, match="no regular expression"):
        who(tmp_path, id_from="(")


def test_one_notebook_named_twice_is_graded_once(tmp_path):
    put(tmp_path, "ada.ipynb")
    assert len(who(tmp_path, "ada.ipynb", "ada.ipynb")) == 1


def test_what_is_no_submission_is_said(tmp_path):
    put(tmp_path, "report.pdf")
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 no zip")
    found, problems = find([tmp_path / "report.pdf", tmp_path / "broken.zip"])
    assert found == []
    assert [problem.rpartition("/")[2] for problem in problems] == [
        "report.pdf: is no notebook and no zip",
        "broken.zip: is damaged, and no zip can be read from it",
    ]
    with pytest.raises(InputError, match="no such file or folder"):
        find([tmp_path / "nowhere"])


def test_a_notebook_that_unpacks_to_too_much_is_not_unpacked(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ada.ipynb", bytes(3 * MAX_BYTES))
    assert path.stat().st_size < MAX_BYTES / 100
    found, _ = find([path])
    assert len(found[0].read()) == MAX_BYTES + 1


def test_members_that_climb_out_of_a_zip_stay_labels(tmp_path):
    path = zipped(tmp_path / "up.zip", "../../etc/ada.ipynb")
    found, _ = find([path])
    assert found[0].read() == b"{}"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["up.zip"]
