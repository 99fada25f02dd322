"""A small vocabulary for tests that are about sentences and not about words."""

from herma.policy.prompt.vocabulary import Concept, Kind, Shape, Vocabulary

__all__ = ["WORDS"]

WORDS = Vocabulary(
    [
        Concept("send", Kind.INTENT, ("send", "envia*", "upload", "copy"), ("gonder*",)),
        Concept("tell", Kind.INTENT, ("tell", "say", "mention", "sag*")),
        Concept(
            "secret",
            Kind.OBJECT,
            ("secret", "keys", "clave*", "*schlussel", "密码", "مفاتيح", "סיסמאות", "कुंजी"),
            ("anahtar*",),
        ),
        Concept("owner", Kind.OBJECT, ("the user", "owner")),
        Concept("outside", Kind.CONTEXT, ("abroad",), (), (Shape(("://",), r"https?://[^\s]{3,80}"),)),
        Concept("rules", Kind.OBJECT, ("instructions",), (), (), misspelt=True),
        Concept(
            "innocent", Kind.MASK, ("secret santa", "keys fact*"), (), (Shape(("$",), r"\$[a-z_]{1,40}"),)
        ),
        Concept("variable", Kind.OBJECT, (), (), (Shape(("$",), r"\$[a-z_]{0,20}key"),)),
        Concept("negation", Kind.NEGATION, ("do not", "never")),
        Concept("negation_late", Kind.NEGATION_AFTER, ("nichts",)),
        Concept("asked", Kind.FRAME, ("check whether", "look for")),
        Concept("asked_late", Kind.FRAME_AFTER, ("かどうか", "or not")),
        Concept("topic", Kind.TOPIC, ("about",)),
    ]
)
