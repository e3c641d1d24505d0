"""Attackers: who is whom?"""
