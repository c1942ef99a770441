"""Exact inference as compiled programs: supports, relevance, orders, trees, programs, their runs.

    impossible states cut -> relevance -> order -> rooted tree of cliques -> program
    program -> load -> collect -> distribute

What is known becomes a smaller model (`questions`); a question to it becomes a program once
(`planning`), which depends on which variables are known and not on their states, and is run as
often as there are states to ask about (`runs`, and `lanes_kernels` for many rows at once).
"""
