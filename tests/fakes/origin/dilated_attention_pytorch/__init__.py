"""Modules with the names and the interface of those that the five reports measured, for tests of `origin`: written here,
and no copies. Each computes what docs/claims.md says of the original."""
