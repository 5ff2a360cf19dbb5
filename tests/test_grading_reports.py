"""Rosters, the row per person, texts that a person marks, pages: what an instructor and a student read."""

from __future__ import annotations

import csv
import io

import msgspec
import pytest

from agentlab.errors import InputError
from agentlab.grading.collect import Handed
from agentlab.grading.gradebook import Graded, rows, table
from agentlab.grading.pages import page, stamp
from agentlab.grading.result import Mark, Result, Text
from agentlab.grading.review import Given, merge, read_review, review_csv, text_id
from agentlab.grading.roster import person_of, read_roster
from agentlab.grading.spreadsheet import write_csv
from tests.grading_class import EXERCISE, NAME


def graded(who, earned=3.0, *, file=None, text="", refused=""):
    handed = Handed(file or f"{who}.ipynb", (who,), file or f"{who}.ipynb")
    if refused:
        return Graded(handed, refused=refused)
    mark = Mark("double-two", "doubling", "doubles two", hidden=False, points=5, earned=earned, feedback="Expected 4.")
    texts = [Text("why", "Why it is so", 3, text, None if text else 0.0)]
    return Graded(handed, NAME, Result(NAME, "d" * 64, "bwrap", "public", [mark], texts, []))


def roster(tmp_path, text):
    path = tmp_path / "class.csv"
    path.write_text(text, encoding="utf-8-sig")
    return path


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("id,name\nu1,Ada Lovelace\nu2,Grace Hopper\n", ["Ada Lovelace", "815"]),
        ("id;name\nu1;Lovelace, Ada\nu2;Hopper, Grace\n", ["lovelaceada", "42"]),
        ("First name\tSurname\tID number\nAda\tLovelace\tu1\nGrace\tHopper\tu2\n", ["Ada Lovelace"]),
        ("Student,ID,SIS Login ID\nLovelace,u1,adal\nHopper,u2,grace\n", ["ADAL"]),
        ("id,canvas\nu1,42\nu2,43\n", ["lovelaceada", "42"]),
        ("id,name\nu1,Àda Lovelace\nu2,Grace Hopper\n", ["Ada Lovelace"]),
    ],
)
def test_people_are_found_whatever_system_wrote_the_roster(tmp_path, text, who):
    people = read_roster(roster(tmp_path, text))
    assert [person.id for person in people] == ["u1", "u2"]
    assert person_of(who, people).id == "u1"


def test_a_name_that_two_people_have_names_nobody(tmp_path):
    people = read_roster(roster(tmp_path, "id,name\nu1,Ada\nu2,Ada\n"))
    assert person_of(["Ada"], people) is None
    assert person_of(["Ada", "u2"], people).id == "u2"


@pytest.mark.parametrize(
    ("text", "said"), [("", "holds no person"), ("id\n", "holds no person"), ("id\nu1\nu1\n", "twice|2 times")]
)
def test_a_roster_that_cannot_be_used_is_refused(tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        read_roster(roster(tmp_path, text))


def test_one_row_per_person(tmp_path):
    people = read_roster(roster(tmp_path, "id,name\nada,Ada\nbob,Bob\ncy,Cy\n"))
    handed = [
        graded("ada", 2, file="ada-1.ipynb"),
        graded("ada", 4, file="ada-2.ipynb", text="Since."),
        graded("cy", refused="is empty"),
        graded("mallory", 1),
    ]
    made = rows(handed, [EXERCISE], people)
    assert [(row.id, row.points, row.max) for row in made] == [
        ("ada", 4, 8),
        ("bob", 0, 8),
        ("cy", 0, 8),
        ("mallory", 1, 8),
    ]
    assert made[0].notes == [
        "07_double: 3 points wait for a person",
        "07_double: 2 notebooks; ada-2.ipynb counts, not ada-1.ipynb (2)",
    ]
    assert made[1].notes == ["nothing handed in"]
    assert made[2].notes == ["cy.ipynb: is empty"]
    assert made[3].notes == ["not on the roster"]
    header, lines = table(made)
    assert header == ["id", "name", "points", "max", NAME, "notes"]
    assert lines[1] == ["bob", "Bob", 0, 8, 0.0, "nothing handed in"]


def test_csv_holds_no_formula():
    text = write_csv(["id"], [["=HYPERLINK(1)"], ["@x"], ["-5"], ["ada"]])
    assert [row[0][0] for row in csv.reader(io.StringIO(text))] == ["i", "'", "'", "'", "a"]


def test_texts_are_written_filled_in_and_merged(tmp_path):
    handed = [
        graded("ada", text='=Since, "so"\nit is.'),
        graded("bob", text="No."),
        graded("cy"),
        graded("dan", text="No."),
    ]
    path = tmp_path / "texts.csv"
    path.write_text(review_csv(handed, [EXERCISE]))
    lines = list(csv.DictReader(io.StringIO(path.read_text())))
    assert sorted(line["text"] for line in lines) == ['\'=Since, "so"\nit is.', "No."]
    assert {line["rubric"] for line in lines} == {"One reason."}
    for line in lines:
        line["points"], line["comment"] = ("2,5", "good") if line["text"] == "No." else ("", "")
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(lines[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(lines)
    given = read_review(path)
    assert given == {(NAME, "why", text_id("No.")): Given(2.5, "good")}
    merged, unused = merge(handed, given)
    assert [each.earned for each in merged] == [3, 5.5, 3, 5.5]
    assert unused == []
    assert merge([graded("ada")], given)[1] == list(given)
    assert "good" in review_csv(merged, [EXERCISE])


@pytest.mark.parametrize("points", ["4", "-1", "many", "nan", "inf"])
def test_points_that_nobody_can_give_are_refused_with_their_line(tmp_path, points):
    path = tmp_path / "texts.csv"
    line = review_csv([graded("ada", text="No.")], [EXERCISE]).replace(",3,,", f",3,{points},")
    path.write_text(line)
    with pytest.raises(InputError, match=rf"texts.csv:2: points: found '{points}', expected a number from 0 to 3"):
        read_review(path)


def test_a_review_of_other_columns_is_refused(tmp_path):
    (tmp_path / "texts.csv").write_text("id,points\nada,3\n")
    with pytest.raises(InputError, match="no column 'exercise'"):
        read_review(tmp_path / "texts.csv")


def test_page_escapes_what_a_student_wrote_and_shows_what_counts():
    result = graded("ada", 0, text="<script>alert(1)</script>").result
    result = msgspec.structs.replace(result, problems=["cell 2: <b>"])
    shown = page(result, EXERCISE, who="<i>Ada</i>", file="a.ipynb")
    assert "<script>alert" not in shown
    assert "<i>Ada" not in shown
    assert "&lt;script&gt;alert(1)" in shown
    assert "cell 2: &lt;b&gt;" in shown
    assert "Expected 4." in shown
    assert "0 of 8 points" in shown
    assert stamp("bwrap", "public") in shown


def test_reports_say_where_nothing_was_boxed():
    result = msgspec.structs.replace(graded("ada").result, sandbox="limits")
    assert "WITHOUT a box" in page(result, EXERCISE, who="ada", file="a.ipynb")
