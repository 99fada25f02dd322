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


def test_what_is_no_job_has_no_fields() -> None:
    """A text and a list are read as they are."""
    assert [*fields("prompt"), *fields(["a", "b", "c"])] == []
