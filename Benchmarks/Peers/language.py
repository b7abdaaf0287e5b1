"""Measures PyPI's odata-query.

Each line of standard input is a count, a tab and a $filter. For each line, prints the processor time of that many parses
in seconds. The lexer and parser are created once, and the first parse is not measured.
"""

import sys
import time

from odata_query.grammar import ODataLexer, ODataParser


def main():
    lexer, parser = ODataLexer(), ODataParser()
    for line in sys.stdin:
        count, text = line.rstrip("\n").split("\t")
        assert parser.parse(lexer.tokenize(text)) is not None
        begin = time.thread_time()
        for _ in range(int(count)):
            parser.parse(lexer.tokenize(text))
        print(time.thread_time() - begin, flush=True)


main()
