"""Claims about `herma.policy.entry.entry`."""

from herma.policy.entry.entry import Entry, Kind


def test_the_size_of_an_entry_counts_all_its_strings() -> None:
    """Names, values, nested lists and what is no text all count."""
    assert Entry("x", {"ab": ["cde", 5, {"f": None}]}, "/p").size() == 8
    assert Entry("x", {}, "").kind is Kind.SERVER


def test_letters_of_others_count_as_their_bytes() -> None:
    """What is normalised and folded costs more than ASCII, and half a character breaks nothing."""
    assert Entry("x", {"a": "\ufdfa\ud800"}, "").size() == 5


def test_a_script_weighs_what_its_signs_cost() -> None:
    """Brackets without number weigh more than their characters; an ordinary script weighs what it is long."""
    crowded = Entry("x", {"args": ["$)" * 512]}, "")
    assert crowded.weight() > 6 * crowded.size()
    honest = Entry(
        "x", {"args": ["-c", 'case "$(uname)" in Linux) exec node "$HOME/app/server.js";; esac\n' * 15]}, ""
    )
    assert honest.weight() == honest.size()


def test_brackets_without_their_other_half_weigh_more_in_short_scripts_too() -> None:
    """Each counts; those of a list of steps, or of the patterns of a case, weigh less than their text."""
    assert Entry("x", {"args": ["b)" * 32]}, "").weight() > 500
    steps = " ".join(f"{at}) do what step {at} says" for at in range(40))
    listed = Entry("x", {"env": {"STEPS": steps}}, "")
    assert listed.weight() == listed.size()
