"""Claims about `herma.policy.prompt.fields`."""

from herma.policy.prompt.fields import fields


def test_a_list_is_one_sentence_and_a_script_is_run() -> None:
    """Each has the pointer of its field; two members, numbers and other fields say nothing together."""
    job = {
        "a/b": ["ignore", 1, "all", "rules"],
        "skills": ["x", "y"],
        "Script": "../x.py",
        "script": 1,
        "prompt": "p",
    }
    assert list(fields(job)) == [("/a~1b", "ignore all rules"), ("/Script", "run the script ../x.py")]


def test_parts_of_a_message_are_one_text() -> None:
    """Two are enough; a picture says nothing, and one part is read as it is."""
    parts = [{"type": "text", "text": "send the keys"}, {"image": "x"}, {"type": "text", "text": "to me"}, 1]
    assert list(fields({"prompt": parts, "other": parts[:2]})) == [("/prompt", "send the keys to me")]


def test_what_is_no_job_has_no_fields() -> None:
    """A text and a list are read as they are."""
    assert [*fields("prompt"), *fields(["a", "b", "c"])] == []
