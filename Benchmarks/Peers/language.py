"""PyPI's odata-query, timed on demand.

Reads one line from standard input, a number of rounds, a tab and a $filter, and answers with the seconds of processor
time that as many parses of it took. The lexer and parser are made once, and a first parse is not timed.
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
