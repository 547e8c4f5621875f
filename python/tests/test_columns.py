"""Columns of tables, beside the ones in Go."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushgrad import InvalidParameter
from hushgrad.columns import Columns

# examples/tabular/vectors_test.go reads the same file.
VECTORS = json.loads(Path(__file__).with_name("columns.json").read_text(encoding="utf-8"))


def test_columns_are_those_of_go() -> None:
    columns = Columns(VECTORS["columns"])
    known = [field.split("=")[0] for field in VECTORS["columns"].split(",")]
    numbers = columns.numbers(dict(zip(known, cells, strict=True)) for cells in VECTORS["rows"])
    assert columns.names == VECTORS["names"]
    np.testing.assert_allclose(numbers, VECTORS["numbers"], rtol=0, atol=1e-12)
    assert columns.outside == VECTORS["outside"]


def test_cells_may_be_numbers_and_may_be_missing() -> None:
    columns = Columns("age=0..8~4±2,sector=a|b")
    assert columns.numbers([{"age": 6, "sector": "b"}, {}]).tolist() == [[1, 0, 1], [0, 0, 0]]
    assert columns.outside == {"age": 1, "sector": 1}
    assert columns.numbers([]).shape == (0, 3)


@pytest.mark.parametrize(("known", "width"), [("@{}", 300), ("@{}#64", 64)])
def test_a_file_has_many_values(tmp_path: Path, known: str, width: int) -> None:
    path = tmp_path / "cities.txt"
    lines = "".join(f"city {i}, land\r\n\n" for i in range(300))
    path.write_text("\ufeff" + lines, encoding="utf-8")
    columns = Columns("city=" + known.format(path))
    place = 4 if width == 64 else 299  # as in examples/tabular/values_test.go
    numbers = columns.numbers([{"city": "city 299, land"}, {"city": "São Paulo"}])
    assert numbers.shape == (2, width)
    assert np.argmax(numbers[0]) == place
    assert numbers.sum() == 1
    assert columns.outside == {"city": 1}


def test_wrong_columns_are_refused(tmp_path: Path) -> None:
    many, big = tmp_path / "many.txt", tmp_path / "big.txt"
    many.write_text("\n".join(str(i) for i in range(1001)))
    big.write_bytes(b"\n" * ((4 << 20) + 1))
    for text, rule in {
        "age": "must be columns like age=17..90",
        "=0..1": "must be columns like",
        "a=1..0": "must begin with the smaller number: type a=0..1",
        "a=1..1": "must be a range from a number to a larger one, such as a=0..100",
        "a=0..1;b=2..3": "must have commas between columns: type a=0..1,b=2..3",
        "a=0..1 b=2..3": "must have commas between columns: type a=0..1,b=2..3",
        "a=0-1": "must have .. between the ends of a range: type a=0..1",
        "a=17,5..90": "or a range a=0..100, with points in its numbers",
        "a=0..1_0": "must be a range",
        "a=0..inf": "must be a range",
        "a=0..1~": "type a=0..1~0.5±0.166667",
        "a=0..1~0.5": "must have log, or a mean",
        "a=0..1~2±0.5": "must have log, or a mean",
        "a=0..1~0.5±0.001": "must have log, or a mean",
        "a=x": "must list from 2 to 1000 values, each once: type a=a|b, or a=#64",
        "a=x||y": "must list",
        "a=x|x": "must list",
        "a=#1": "must have from 2 to 1000 buckets behind the #: type a=#64",
        "a=#many": "must have from 2 to 1000 buckets",
        "a=#" + "9" * 5000: "must have from 2 to 1000 buckets",
        f"a=@{many}#1": "must have from 2 to 1000 buckets",
        f"a=@{many}#old": "must name a file",
        "a=#": "must have from 2 to 1000 buckets",
        "a=@no/such": "must name a file",
        f"a=@{many}": "must list from 2 to 1000 values",
        f"a=@{big}": "must name a file of at most 4194304 bytes",
        "a=0..1,a=0..2": "must name each column once",
        ",".join(f"c{i}=0..1" for i in range(1001)): "must be at most 1000",
    }.items():
        with pytest.raises(InvalidParameter) as wrong:
            Columns(text)
        assert rule in str(wrong.value), text
    no_text: list[Any] = [5, None, ["a=0..1"], {"a": (0, 1)}]
    for value in no_text:
        with pytest.raises(InvalidParameter, match=r"columns: got .*, rule: must be a text"):
            Columns(value)


def test_the_lines_of_the_page() -> None:
    """docs/tables.md has these lines."""
    columns = Columns("age=17..90~40±15,income=0..1e6~log,city=#64")
    x = columns.numbers([{"age": "31", "income": "25000", "city": "Lima"}])
    assert x.shape == (1, 66)
    assert x[0, 0] == pytest.approx(-0.6)
    assert np.count_nonzero(x[0, 2:]) == 1


def test_a_frame_is_its_rows() -> None:
    pandas = pytest.importorskip("pandas")
    columns = Columns("age=0..6,sector=a|b,city=#8")
    rows = [{"age": 6, "sector": "b", "city": "Lima"}, {"sector": "a"}, {}]
    frame = pandas.DataFrame(rows, columns=["age", "sector", "city"])
    assert columns.numbers(frame).tolist() == columns.numbers(rows).tolist()
    blank = {"age": None, "sector": pandas.NA, "city": math.nan}
    assert columns.numbers([blank]).tolist() == columns.numbers([{}]).tolist()


class Other:
    """A frame with another call for its rows than pandas has."""

    def to_dict(self) -> dict[str, list[int]]:
        return {"age": [31]}


def test_a_row_is_a_mapping() -> None:
    columns = Columns("age=0..6")
    rows: list[Any] = [["31"], "age", 5]
    for row in rows:
        with pytest.raises(InvalidParameter, match=r"rows: got .*, rule: must be mappings"):
            columns.numbers([row])
    other: Any = Other()
    with pytest.raises(InvalidParameter, match=r"rows: got a Other, rule: must be mappings"):
        columns.numbers(other)
