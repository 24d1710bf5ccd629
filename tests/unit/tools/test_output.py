"""ToolOutput and text made from bytes. (spec RT-10; case BC-084)"""

from __future__ import annotations

from interlock.runtime.tools.capture import Window
from interlock.runtime.tools.output import ToolOutput, decode, without_terminal_codes


def test_a_short_string_is_its_own_summary() -> None:
    assert ToolOutput.of("done") == ToolOutput(summary="done")


def test_a_long_string_becomes_a_summary_and_content() -> None:
    text = "\n".join(f"line {n} of some length" for n in range(40))
    output = ToolOutput.of(text)
    assert output.content == text
    assert output.summary == f"40 lines | {text[:80]}…".replace("\n", " ")


def test_a_last_line_end_does_not_count_as_a_line() -> None:
    assert ToolOutput.of("x" * 400 + "\n").summary.startswith("1 lines | xxx")


def test_each_byte_that_is_no_utf8_is_replaced_and_counted() -> None:
    assert decode(b"head\n\xff\xf0\x28\0tail") == ("head\n\ufffd\ufffd(\ufffdtail", 3)
    assert decode("日本\r\n".encode()) == ("日本\r\n", 0)


def test_colours_and_titles_are_taken_out() -> None:
    assert without_terminal_codes("\x1b[31mred\x1b[0m \x1b]0;title\x07x\x1b[2J") == "red x"


def test_a_window_keeps_both_ends_and_counts_what_lies_between() -> None:
    window = Window(8)
    data = "日本日本日本日本日本".encode()
    for at in range(0, len(data), 4):
        window.add(data[at : at + 4])
    head, tail, omitted = window.ends()
    assert (head.decode(), tail.decode()[-1]) == ("日本", "本")
    assert len(head) + len(tail) + omitted == len(data) == window.total


def test_a_window_that_holds_all_omits_nothing() -> None:
    window = Window(8)
    window.add(b"0123456789abcde")
    assert window.ends() == (b"0123456789abcde", b"", 0)
