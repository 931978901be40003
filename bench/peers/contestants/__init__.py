"""Those who are compared. Each is a class with

    GET                 how to get what it needs
    Class(threads, build)  loads it, from the build tree if it is built here; ImportError or OSError if it is not there
    threads                how many it will use
    about                  what it is, with its version
    prepare(problem)       makes the tensors; returns a word for the kernel that will run; raises Declined
    run()                  one pass
    answer()               out, or dq, dk and dv, as fp32 (batch, rows, heads, dim)

and lives in a process of its own, so that neither its threads nor its libraries meet those of another.
"""


class Declined(Exception):
    """It does not compute this problem, and why."""
