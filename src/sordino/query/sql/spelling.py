"""Spellings of other dialects, brought into ours before the parser sees them: as tokens, which no quote can imitate.

``SELECT TOP 5 …`` is ``… LIMIT 5``; ZetaSQL's ``ANON_SUM(x CLAMPED BETWEEN 0 AND 9)`` says what
``contribution_bounds_per_group => (0, 9)`` does.
"""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from .refusals import refuse

_NUMBER = TokenType.NUMBER


def respelt(tokens: list[Token]) -> list[Token]:
    """Return the tokens as our dialect spells them."""
    return _with_limit(_with_bounds(tokens))


def _with_limit(tokens: list[Token]) -> list[Token]:
    """SELECT TOP n at the outside becomes LIMIT n at the end."""
    for place, token in enumerate(tokens[:-2]):
        if token.token_type is not TokenType.SELECT or tokens[place + 1].text.upper() != "TOP":
            continue
        wrapped = tokens[place + 2].token_type is TokenType.L_PAREN and place + 4 < len(tokens)
        first, last = (place + 3, place + 5) if wrapped else (place + 2, place + 3)
        if tokens[first].token_type is not _NUMBER or (
            wrapped and tokens[first + 1].token_type is not TokenType.R_PAREN
        ):
            continue
        if wrapped and tokens[last].token_type in (TokenType.COMMA, TokenType.FROM):
            continue
        if _depth(tokens[:place]) or any(each.text.upper() in ("PERCENT", "LIMIT") for each in tokens[last:]):
            raise refuse("TOP n stands in the outermost SELECT, alone", "write ORDER BY … LIMIT n at the end")
        end = next((n for n in range(last, len(tokens)) if tokens[n].token_type is TokenType.SEMICOLON), len(tokens))
        limit = [_like(tokens[place], TokenType.LIMIT, "LIMIT"), tokens[first]]
        return [*tokens[: place + 1], *tokens[last:end], *limit, *tokens[end:]]
    return tokens


def _with_bounds(tokens: list[Token]) -> list[Token]:
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        following = tokens[place + 1].token_type if place + 1 < len(tokens) else None
        if tokens[place].text.upper() != "CLAMPED" or following is not TokenType.BETWEEN:
            found.append(tokens[place])
            place += 1
            continue
        end, depth, middle = place + 2, 0, None
        while end < len(tokens) and (depth or tokens[end].token_type is not TokenType.R_PAREN):
            depth += (tokens[end].token_type is TokenType.L_PAREN) - (tokens[end].token_type is TokenType.R_PAREN)
            middle = end if middle is None and tokens[end].token_type is TokenType.AND else middle
            end += 1
        if middle is None:
            raise refuse("CLAMPED BETWEEN takes two ends", "write SUM(CLIP(x, 0, 100))", "SRD-Q101")
        mark = tokens[place]
        found += [
            _like(mark, TokenType.COMMA, ","),
            _like(mark, TokenType.VAR, "contribution_bounds_per_group"),
            _like(mark, TokenType.FARROW, "=>"),
            _like(mark, TokenType.L_PAREN, "("),
            *tokens[place + 2 : middle],
            _like(mark, TokenType.COMMA, ","),
            *tokens[middle + 1 : end],
            _like(mark, TokenType.R_PAREN, ")"),
        ]
        place = end
    return found


def _depth(tokens: list[Token]) -> int:
    return sum((token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN) for token in tokens)


def _like(token: Token, kind: TokenType, text: str) -> Token:
    """Return a token that stands where another one stood."""
    return Token(kind, text, token.line, token.col, token.start, token.end)
