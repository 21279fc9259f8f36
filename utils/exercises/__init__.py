"""Checks for the exercises, one module a chapter, and the known mistakes that they recognise."""
