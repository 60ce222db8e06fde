"""A page parsed strictly as a tree: every element must be closed, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "input", "br", "hr", "img", "link"}


@dataclass
class Node:
    """An element; its children are elements and texts."""

    tag: str
    attrs: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in the element, with styles and scripts."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def classes(self) -> list[str]:
        return self.attrs.get("class", "").split()

    def walk(self) -> Iterator[Node]:
        """Yield the element and all elements in it, in order."""
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, tag: str = "", cls: str = "", **attrs: str) -> list[Node]:
        """Return every element below with this tag, class and these attributes."""
        return [
            node
            for node in self.walk()
            if node is not self
            and (not tag or node.tag == tag)
            and (not cls or cls in node.classes)
            and all(node.attrs.get(key.replace("_", "-")) == value for key, value in attrs.items())
        ]

    def one(self, tag: str = "", cls: str = "", **attrs: str) -> Node:
        """Return the only such element. Raises `AssertionError` if there is none or more than one."""
        found = self.all(tag, cls, **attrs)
        assert len(found) == 1, f"{len(found)} of <{tag} class={cls} {attrs}>"
        return found[0]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.stack = [Node("")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.stack[-1].children.append(node)
        if tag not in _VOID:
            self.stack.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.stack.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.stack[-1].tag == tag, f"</{tag}> inside <{self.stack[-1].tag}>"
        self.stack.pop()

    def handle_data(self, data: str) -> None:
        self.stack[-1].children.append(data)


def parse(page: str) -> Node:
    """Return the tree of a page or of a fragment."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert len(reader.stack) == 1, f"never closed: {[node.tag for node in reader.stack[1:]]}"
    return reader.stack[0]
