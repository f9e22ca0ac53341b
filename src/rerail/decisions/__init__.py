"""Decisions: a pure function of run state, classification, balances, policy and draws."""
