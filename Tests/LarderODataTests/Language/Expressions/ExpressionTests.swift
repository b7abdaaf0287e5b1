import LarderTestSupport
import Testing

@testable import LarderOData

@Suite("Expressions are read", .timeLimit(.minutes(5)))
struct ExpressionTests {
  private func read(_ text: String, _ options: ODataParserOptions = ODataParserOptions()) throws -> ODataExpression {
    var reader = try SyntaxReader(text, options: options)
    let expression = try reader.expression()
    guard reader.isAtEnd else { throw reader.error(.unexpected(expected: [])) }
    return expression
  }

  private func failure(_ text: String, _ options: ODataParserOptions = ODataParserOptions()) -> ODataSyntaxError? {
    do {
      _ = try read(text, options)
      return nil
    } catch { return error as? ODataSyntaxError }
  }

  @Test(
    "Operators bind by their precedence (URL Conventions 4.01 §5.1.1.17), those of one kind from the left",
    arguments: [
      ("a or b and c", "(or a (and b c))"),
      ("(a or b) and c", "(and (or a b) c)"),
      ("a and b and (c and d)", "(and a b c d)"),
      ("a or (b or c) or d", "(or a b c d)"),
      ("a eq b or c ne d", "(or (eq a b) (ne c d))"),
      ("a eq b lt c", "(eq a (lt b c))"),
      ("a add b mul c sub d", "(sub (add a (mul b c)) d)"),
      ("a sub (b sub c)", "(sub a (sub b c))"),
      ("a div b divby c mod d", "(mod (divby (div a b) c) d)"),
      ("not a and b", "(and (not a) b)"),
      ("not a eq b", "(eq (not a) b)"),
      ("not (a eq b)", "(not (eq a b))"),
      ("not(a)", "(not a)"),
      ("not not a", "(not (not a))"),
      ("- a add b", "(add (- a) b)"),
      ("-(a add b)", "(- (add a b))"),
      ("not a has N.T'x'", "(not (has a N.T'x'))"),
      ("a has N.T'x,y' eq true", "(eq (has a N.T'x,y') true)"),
      ("a gt 1 eq b in (1,2)", "(eq (gt a 1i32) (in b (list 1i32 2i32)))"),
    ])
  func precedence(text: String, expected: String) throws {
    #expect(notation(try read(text)) == expected)
  }

  @Test(
    "Literals have the smallest type that their form allows (ABNF primitiveLiteral)",
    arguments: [
      ("null", "null"), ("true", "true"), ("FALSE", "false"), ("5", "5i32"), ("-5", "-5i32"), ("- 5", "-5i32"),
      ("2147483648", "2147483648i64"), ("-2147483648", "-2147483648i32"), ("-(2147483648)", "-2147483648i32"),
      ("9223372036854775808", "9223372036854775808m"), ("3.10", "3.10m"), ("1e3", "1000m"),
      ("INF", "INFd"), ("-INF", "-INFd"), ("NaN", "NaNd"), ("'it''s'", "'it''s'"), ("%27a%27%27b%27", "'a''b'"),
      ("''", "''"),
      ("2012-02-29", "2012-02-29"), ("-0044-03-15", "-0044-03-15"), ("12:30", "12:30:00"),
      ("07:59:59.999", "07:59:59.999"),
      ("2012-09-03T13:52Z", "2012-09-03T13:52:00Z"), ("2012-09-03T13:52:00.5%2B02:00", "2012-09-03T13:52:00.5+02:00"),
      ("2013-06-18T09:30:20", "datetime'2013-06-18T09:30:20'"),
      ("01234567-89AB-cdef-0123-456789abcdef", "01234567-89ab-cdef-0123-456789abcdef"),
      ("a1234567-89ab-cdef-0123-456789abcdef", "a1234567-89ab-cdef-0123-456789abcdef"),
      ("duration'P1DT2H'", "duration'P1DT2H'"), ("binary'Zm9v'", "binary'Zm9v'"), ("binary'I6v/'", "binary'I6v_'"),
      ("Sales.Pattern'Red,Yellow'", "Sales.Pattern'Red,Yellow'"),
      ("geography'SRID=0;Point(142.1 64.1)'", "geography'SRID=0;Point(142.1 64.1)'"),
      ("2L", "2i64"), ("5.00m", "5.00m"), ("1.5e2f", "150.0f"), ("1d", "1.0d"),
    ])
  func literals(text: String, expected: String) throws {
    #expect(notation(try read(text)) == expected)
  }

  @Test(
    "Literals of V2 (OData V2, Primitive Types)",
    arguments: [
      ("datetime'2000-12-12T12:00'", "datetime'2000-12-12T12:00:00'"), ("time'PT13H20M'", "duration'PT13H20M'"),
      ("datetimeoffset'2002-10-10T17:00:00Z'", "2002-10-10T17:00:00Z"), ("64L", "64i64"), ("2.345M", "2.345m"),
      ("guid'12345678-aaaa-bbbb-cccc-ddddeeeeffff'", "12345678-aaaa-bbbb-cccc-ddddeeeeffff"), ("2.0f", "2.0f"),
      ("X'23AB'", "binary'I6s'"), ("binary'23ABFF'", "binary'I6v_'"), ("-1E+10d", "-10000000000.0d"), ("4.5", "4.5d"),
      ("substringof('a',Name)", "(substringof 'a' Name)"), ("replace(Name,'a','b')", "(replace Name 'a' 'b')"),
      ("concat(X,Y,Z)", "(concat X Y Z)"), ("isof('N.T')", "(isof _ N.T)"),
    ])
  func literalsOfV2(text: String, expected: String) throws {
    #expect(notation(try read(text, ODataParserOptions(version: .v2))) == expected)
  }

  @Test(
    "Paths, lambdas and calls (URL Conventions 4.01 §5.1.1.5 to §5.1.1.15)",
    arguments: [
      ("Address/City", "Address/City"), ("Model.Vip/Discount", "<Model.Vip>/Discount"), ("$it/Name", "$it/Name"),
      ("$this", "$this"), ("$root/People('x')/Name", "$root/People('x')/Name"), ("@p", "@p"), ("@p/Name", "@p/Name"),
      ("@Core.Note", "@Core.Note"), ("Items/@N.T%23q/x", "Items/@N.T#q/x"),
      ("Items/$count gt 1", "(gt Items/$count 1i32)"),
      ("Items/any()", "Items/any()"), ("Items/any(i:i/Price gt Price)", "Items/any(i:(gt \\i/Price Price))"),
      ("a/all(x:x/b/any(y:y eq x))", "a/all(x:\\x/b/any(y:(eq \\y \\x)))"), ("x eq a/any(x:x)", "(eq x a/any(x:\\x))"),
      ("Items/$filter(a eq 1)/$count", "Items/$filter((eq a 1i32))/$count"),
      ("Items(ID=1,Pos=2)/Name", "Items(ID=1i32,Pos=2i32)/Name"),
      ("N.F(a=$it/b,c=@d)/Name", "<N.F>(a=$it/b,c=@d)/Name"),
      ("F()", "F()"), ("N.S.F()/G()", "<N.S.F>()/G()"), ("date(x=1)", "date(x=1i32)"),
      ("time lt now()", "(lt time (now))"),
      ("CONCAT('a','b') EQ 'ab'", "(eq (concat 'a' 'b') 'ab')"), ("geo.length(Route)", "(geo.length Route)"),
      ("cast(Edm.String)", "(cast _ Edm.String)"), ("cast(a,Collection(N.T))", "(cast a Collection(N.T))"),
      ("cast(Category,N.Derived)/Name eq null", "(eq (cast Category N.Derived)/Name null)"),
      ("isof(a,'Edm.Int32')", "(isof a Edm.Int32)"), ("isdefined(Product/Name)", "(isdefined Product/Name)"),
      ("case(a gt 0:1,true: 2)", "(case (gt a 0i32):1i32 true:2i32)"), ("a in @list", "(in a @list)"),
      ("a in ('x')", "(in a (list 'x'))"), ("a in (b)", "(in a b)"), ("a in()", "(in a (list))"),
      (#"["a",1,{"b":null,"c":[]}]"#, #"['a',1i32,{b:null,c:[]}]"#),
      (#"{"a":"\u00e9\ud83d\ude00\n\""}"#, "{a:'é😀\n\"'}"),
      ("Stra%C3%9Fe eq 'x'", "(eq Straße 'x')"), ("Items/1/Name", "Items/\"1\"/Name"), ("a eq  [1]", "(eq a [1i32])"),
      ("a has 'Red'", "(has a 'Red')"),
      ("null eq nullable", "(eq null nullable)"), ("truely", "truely"),
    ])
  func paths(text: String, expected: String) throws {
    #expect(notation(try read(text)) == expected)
  }

  @Test(
    "Digits, a colon and digits in case are two numbers if they cannot be a time (ABNF `caseMethodCallExpr`)",
    arguments: [
      ("case(a gt 10:20,true:30)", "(case (gt a 10i32):20i32 true:30i32)"),
      ("case(a gt 10:2019-02-03)", "(case (gt a 10i32):2019-02-03)"),
      ("case(a gt 10:20:30)", "(case (gt a 10i32):20:30:00)"),
      ("case(10:20.5,20:30)", "(case 10i32:20.5m 20i32:30i32)"),
      ("case(a gt -10:20)", "(case (gt a -10i32):20i32)"),
      ("case(a gt 10:20 add 1)", "(case (gt a 10i32):(add 20i32 1i32))"),
      ("case(a eq 10:20:b,c:d)", "(case (eq a 10:20:00):b c:d)"),
      ("case(a eq 10:20 and b:c)", "(case (and (eq a 10:20:00) b):c)"),
      ("case(a eq 10:20:30:40)", "(case (eq a 10:20:30):40i32)"), ("case((a eq 10:20):b)", "(case (eq a 10:20:00):b)"),
      ("case(case(a gt 10:20) gt 10:20)", "(case (gt (case (gt a 10i32):20i32) 10i32):20i32)"),
    ])
  func numbersInCase(text: String, expected: String) throws {
    #expect(notation(try read(text)) == expected)
  }

  @Test(
    "A function with named arguments is one of the service, whatever its name",
    arguments: ["not", "all", "any", "aggregate", "case", "cast", "isof", "isdefined", "contains", "now"])
  func functionsOfTheService(name: String) throws {
    for path in [name, "a/\(name)"] {
      let text = "\(path)(x=1)"
      let tree = try read(text)
      #expect(notation(tree) == "\(path)(x=1i32)")
      #expect(try ODataPrinter().print(tree) == text)
    }
  }

  @Test(
    "Errors say where they are and what was expected",
    arguments: [
      ("a eq", 4, "expected a literal"), ("a eq ", 5, "expected a literal"), ("(a", 2, "expected an operator or ')'"),
      ("'abc", 4, "a quote to end the string that starts at character 1"),
      ("a in (b,c)", 7, "a list of several values can contain only literals"),
      ("Model.Available", 15, "a member of the type"), ("all(x:true)", 3, "a collection and '/' before it"),
      ("length()", 7, "length expects 1 argument, not 0"),
      ("substring('a')", 13, "substring expects 2 to 3 arguments, not 1"),
      ("datetime'2000-01-01T00:00'", 8, "V4 writes 2012-09-03T13:52:00Z"), ("Color'Red'", 5, "need the namespace"),
      ("2012-13-01", 6, "2012-13-01"), ("42.", 3, "a digit"), ("1e", 2, "a digit"), ("a b", 2, "nothing more"),
      ("tolowr(Name) eq 'a'", 11, "did you mean 'tolower'?"), ("f('a','b')", 5, "no canonical function 'f'"),
      ("N.F(a=1,2)", 8, "a name and '='"), ("a has 'it is'", 6, "members of an enumeration"),
      ("$root/N.S/x", 9, "has a namespace"),
      ("Items/$count()", 13, ""), ("a%zz", 2, "two hexadecimal digits"), ("a%2", 3, "two hexadecimal digits"),
      ("a%", 2, "two hexadecimal digits"), ("a eq '%FF'", 6, "not UTF-8"),
      ("", 0, "expected"),
      (#"["a"#, 3, "a double quote to end"), (#"["\x"]"#, 3, "an escape"), (#"["\ud800"]"#, 2, "hexadecimal digits"),
    ])
  func rejections(text: String, offset: Int, words: String) throws {
    let failure = try #require(self.failure(text))
    #expect(failure.offset == offset)
    #expect("\(failure)".contains(words), "\(failure)")
  }

  @Test("An error shows the line with a caret under the position, in characters of the original text")
  func caret() throws {
    let failure = try #require(self.failure("Name eq 'a%20b' and Price gt )"))
    #expect(
      "\(failure)"
        == "expected a literal, a path, a function or '(' (at character 30)\n  Name eq 'a%20b' and Price gt )\n  "
        + String(repeating: " ", count: 29) + "^")
  }

  @Test("4.0 and V2 read words in their exact case, 4.01 in any case (URL Conventions 4.01 §5.1.1)")
  func cases() throws {
    #expect(failure("a EQ 1", ODataParserOptions(version: .v4))?.offset == 2)
    #expect(failure("a EQ 1", ODataParserOptions(version: .v2))?.offset == 2)
    #expect(notation(try read("NOT (A Eq 1)")) == "(not (eq A 1i32))")
  }

  @Test(
    "100,000 levels are rejected with the limit, on a small stack",
    arguments: [
      "(", "not ", "-", "[", #"{"a":"#, "a/any(x:", "1 add ", "cast(", "a(b=", "a in (", "case(", "concat(",
      "a eq (b and ",
    ])
  func depth(piece: String) async throws {
    let text = String(repeating: piece, count: 100_000)
    let failure = try await onSmallStack { self.failure(text)?.problem }
    guard case .tooDeep(let limit)? = failure else {
      Issue.record("\(failure.map { "\($0)" } ?? "taken")")
      return
    }
    #expect((20...100).contains(limit))
  }

  @Test("As many levels as the limit are read, without optimization too; chains of and, or and steps have no limit")
  func limits() async throws {
    let nested = String(repeating: "(", count: 99) + "a" + String(repeating: ")", count: 99)
    #expect(notation(try await onSmallStack { try self.read(nested) }) == "a")
    // Two levels each: the operand of not, and the parenthesis.
    let negated = String(repeating: "not (", count: 49) + "a" + String(repeating: ")", count: 49)
    _ = try await onSmallStack { try self.read(negated) }
    let lambdas = String(repeating: "a/any(x:not (", count: 30) + "a" + String(repeating: "))", count: 30)
    _ = try await onSmallStack { try self.read(lambdas) }
    guard case .or(let items) = try read(String(repeating: "a eq 1 or ", count: 2_000) + "b").kind else {
      Issue.record("no chain")
      return
    }
    #expect(items.count == 2_001)
    guard case .path(let path) = try read(String(repeating: "a/", count: 2_000) + "b").kind else {
      Issue.record("no path")
      return
    }
    #expect(path.segments.count == 2_001)
  }

  @Test("Texts that are not percent-encoded keep their percent signs")
  func plainTexts() throws {
    let options = ODataParserOptions(isPercentEncoded: false)
    #expect(notation(try read("a eq '100%'", options)) == "(eq a '100%')")
    #expect(notation(try read("a eq '%41'", options)) == "(eq a '%41')")
  }
}
