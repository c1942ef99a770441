"""Exact inference as compiled programs: relevance, orders, trees, programs, and their runs.

    relevance -> order -> rooted tree of cliques -> program -> collect -> distribute

A question becomes a program once (`planning.plan`), which depends on which variables are known and
not on their states, and is run as often as there are states to ask about (`runs`).
"""
