"""The kernel: what rules are written against.

In a game, `await` means: wait for a decision. Nothing else can be awaited; there is no IO, no clock, no
event loop and no global chance in this package, and a test holds it to that.
"""
