import LarderOData
import Testing

/// Texts in many spellings and the one that is printed. Not percent-encoded, to be readable.
@Suite("Expressions are printed in one spelling", .timeLimit(.minutes(5)))
struct PrintingExpressionTests {
  private func spelling(_ text: String, _ version: ODataVersion = .v401) throws -> String {
    let parser = ODataParser(options: ODataParserOptions(version: version, isPercentEncoded: false))
    let tree = try parser.expression(text)
    let printed = try ODataPrinter(version: version, isPercentEncoded: false).print(tree)
    // NaN equals nothing, itself included.
    if text != "NaN" { #expect(try parser.expression(printed) == tree) }
    return printed
  }

  @Test(
    "Parentheses are written only where precedence requires them (URL Conventions 4.01 §5.1.1.17)",
    arguments: [
      ("((a or (b and c)))", "a or b and c"),
      ("(a or b) and c", "(a or b) and c"),
      ("(a and (b and c)) and d", "a and b and c and d"),
      ("a or (b or (c or d))", "a or b or c or d"),
      ("(a eq b) eq c", "a eq b eq c"),
      ("a eq (b eq c)", "a eq (b eq c)"),
      ("(a lt b) eq (c gt d)", "a lt b eq c gt d"),
      ("(a sub b) sub c", "a sub b sub c"),
      ("a sub (b sub c)", "a sub (b sub c)"),
      ("a add (b mul c)", "a add b mul c"),
      ("(a add b) mul c", "(a add b) mul c"),
      ("((a add b) mul c) sub (d add e)", "(a add b) mul c sub (d add e)"),
      ("not (a eq b)", "not (a eq b)"),
      ("(not a) eq b", "not a eq b"),
      ("not (not (a))", "not not a"),
      ("not (a and b)", "not (a and b)"),
      ("not (contains(a,'b'))", "not contains(a,'b')"),
      ("-(a) add b", "-a add b"),
      ("-(a add b)", "-(a add b)"),
      ("-(2012-09-03)", "-(2012-09-03)"),
      ("- (5)", "-5"),
      ("not (a has N.T'x')", "not a has N.T'x'"),
      ("(not a) has N.T'x'", "(not a) has N.T'x'"),
      ("a in ( 1 , 2 )", "a in (1,2)"),
      ("a in ((b))", "a in b"),
      ("a in ((b add c) mul d)", "a in ((b add c) mul d)"),
      ("a in (b eq c)", "a in (b eq c)"),
      ("(a in (1)) eq true", "a in (1) eq true"),
      ("a eq (b in (1))", "a eq b in (1)"),
      ("not (a in (1,2))", "not a in (1,2)"),
      ("(not a) in (true)", "(not a) in (true)"),
      ("(a add b) in (1)", "(a add b) in (1)"),
      ("a in ((b in c))", "a in (b in c)"),
      ("a in (-b)", "a in (-b)"),
      ("case((a gt 0):(1),true:(0))", "case(a gt 0:1,true:0)"), ("case(a gt 10:20)", "case(a gt 10: 20)"),
      ("case(a gt 10 :20:30:00,true:1)", "case(a gt 10: 20:30:00,true:1)"), ("case(a gt 100:20)", "case(a gt 100:20)"),
      ("(not)", "(not)"), ("(not) eq 1", "(not) eq 1"),
      ("a add b add c sub d sub e", "a add b add c sub d sub e"),
      ("((a add b) mul (c add d)) mod e eq 0", "(a add b) mul (c add d) mod e eq 0"),
    ])
  func parentheses(text: String, expected: String) throws {
    #expect(try spelling(text) == expected)
  }

  @Test(
    "Words in any case and white space of any length have one printed form (4.01)",
    arguments: [
      ("Name EQ 'x'  AND\tNOT StartsWith( Name , 'y' )", "Name eq 'x' and not startswith(Name,'y')"),
      ("TRUE", "true"),
      ("Items/ANY( i : i/Price GT 5 )", "Items/any(i:i/Price gt 5)"),
      ("Items/any( )", "Items/any()"),
      ("GEO.Length(a)", "geo.length(a)"),
      ("[ 1 , \"a\" , { \"b\" : [ ] } ]", "[1,\"a\",{\"b\":[]}]"),
      ("['a',\"b\"]", "[\"a\",\"b\"]"),
      ("Ns.F( a=1 , b=@c )", "Ns.F(a=1,b=@c)"),
      ("cast( a , Edm.String )", "cast(a,Edm.String)"),
      ("isof( Collection(Ns.T) )", "isof(Collection(Ns.T))"),
      ("cast(a,Ns.T)/b", "cast(a,Ns.T)/b"),
      ("$it/a eq $root/Sets('k')/b", "$it/a eq $root/Sets('k')/b"),
      ("Items/1/a eq Items(1)/a", "Items/1/a eq Items(1)/a"),
      ("Items/$count($filter=a eq 1;$search=b) gt 1", "Items/$count($search=b;$filter=a eq 1) gt 1"),
    ])
  func words(text: String, expected: String) throws {
    #expect(try spelling(text) == expected)
  }

  @Test(
    "Literals have one spelling (ABNF primitiveLiteral)",
    arguments: [
      ("+42", "42"), ("007", "7"), ("-0", "0"), ("2147483648", "2147483648"),
      ("99999999999999999999", "99999999999999999999"),
      ("5.0", "5.0"), ("5.000", "5.0"), ("05.10", "5.1"), ("0.5", "0.5"), ("-0.50", "-0.5"), ("1e3", "1000.0"),
      ("1.5E-3", "0.0015"), ("1E+2", "100.0"), ("1e300", "1e300"), ("12.5e299", "1.25e300"), ("1e-300", "1e-300"),
      ("INF", "INF"), ("-INF", "-INF"), ("NaN", "NaN"),
      ("01234567-89AB-CDEF-0123-456789ABCDEF", "01234567-89ab-cdef-0123-456789abcdef"),
      ("2012-09-03T13:52Z", "2012-09-03T13:52:00Z"), ("2012-09-03T13:52:00.500+02:00", "2012-09-03T13:52:00.5+02:00"),
      ("12:30", "12:30:00"), ("12:30:00.000", "12:30:00"), ("2012-09-03", "2012-09-03"),
      ("duration'PT3600S'", "duration'PT1H'"), ("duration'P0D'", "duration'PT0S'"),
      ("duration'-PT90M'", "duration'-PT1H30M'"),
      ("binary'Zm9vYg=='", "binary'Zm9vYg'"), ("BINARY'Zm9v'", "binary'Zm9v'"),
      ("'it''s'", "'it''s'"), ("''", "''"), ("Ns.Color'Red, Blue'", "Ns.Color'Red,Blue'"),
      ("geography'srid=4326;POINT(1 2)'", "geography'SRID=4326;Point(1.0 2.0)'"),
    ])
  func literals(text: String, expected: String) throws {
    #expect(try spelling(text) == expected)
  }

  @Test(
    "A property that is named like a literal is followed by a / (ABNF `primitivePathExpr`)",
    arguments: [
      ("true/", "true/"), ("null/ eq null", "null/ eq null"), ("(INF/)", "INF/"), ("-INF/", "-(INF/)"),
      ("-INF/a", "-(INF/a)"), ("-INF(a=1)", "-(INF(a=1))"), ("-INF.T/a", "-(INF.T/a)"), ("not false/", "not false/"),
      ("NaN/ in (INF)", "NaN/ in (INF)"), ("case(true/:null/,true:1)", "case(true/:null/,true:1)"),
      ("[true/,{\"a\":null/}]", "[true/,{\"a\":null/}]"), ("a/any(x:true/)", "a/any(x:true/)"),
      ("a/$filter(true/)/$count", "a/$filter(true/)/$count"),
      ("a/$count($filter=true/;$search=b)", "a/$count($search=b;$filter=true/)"),
      ("isdefined(true)", "isdefined(true)"), ("isdefined(INF/)", "isdefined(INF)"), ("F(a=null/)", "F(a=null/)"),
      ("cast(true/,Edm.String)", "cast(true/,Edm.String)"), ("Name/ eq 1", "Name eq 1"), ("true()/", "true()"),
      ("$it/true", "$it/true"), ("true/false/", "true/false"), ("N.T/true/", "N.T/true"), ("inf", "inf"),
      ("Null", "Null"),
    ])
  func namedLikeLiterals(text: String, expected: String) throws {
    for version in [ODataVersion.v4, .v401] { #expect(try spelling(text, version) == expected) }
  }

  @Test("In 4.01 true and false are literals in any case", arguments: ["TRUE/", "False/"])
  func literalsInAnyCase(text: String) throws {
    #expect(try spelling(text, .v401) == text)
    #expect(try spelling(text, .v4) == String(text.dropLast()))
  }

  @Test(
    "V2 has its own spellings (V2 URI Conventions §4.5; Primitive Types)",
    arguments: [
      ("(substringof('a',Name)) eq true", "substringof('a',Name) eq true"),
      ("5l", "5L"), ("1.50m", "1.5M"), ("3M", "3M"), ("1.5", "1.5d"), ("2D", "2.0d"), ("1.5F", "1.5f"), ("7", "7"),
      ("datetime'2012-09-03T00:00'", "datetime'2012-09-03T00:00:00'"),
      ("datetimeoffset'2012-09-03T00:00:00Z'", "datetimeoffset'2012-09-03T00:00:00Z'"),
      ("time'PT60M'", "time'PT1H'"),
      ("guid'01234567-89AB-CDEF-0123-456789ABCDEF'", "guid'01234567-89ab-cdef-0123-456789abcdef'"),
      ("X'0aFF'", "X'0AFF'"), ("binary'0aFF'", "X'0AFF'"),
      ("isof('Ns.T')", "isof('Ns.T')"), ("isof(Ns.T)", "isof('Ns.T')"), ("cast(a,'Edm.Int32')", "cast(a,'Edm.Int32')"),
      ("replace(a,'b','c')", "replace(a,'b','c')"), ("-INF", "-INF"), ("concat(a,b)", "concat(a,b)"),
    ])
  func ofV2(text: String, expected: String) throws {
    #expect(try spelling(text, .v2) == expected)
  }
}
