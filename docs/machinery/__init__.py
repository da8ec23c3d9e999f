"""What the pages are built with; their tests use it, too.

A page for a component is a file ``docs/components/<kind>/<name>.md`` with a ``{drawn}`` block: code
that leaves a picture in ``picture``. Lines after ``# drawn`` are run and not shown.
"""
