import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("SQL functions: timestamps, strings, collections, casts, geo", .timeLimit(.minutes(1)))
struct SQLValueFunctionTests {
  private func check(_ table: [(String, SQLValue)]) async throws {
    let rig = try await SQLRig()
    for (sql, expected) in table {
      let value = try await rig.value(sql)
      #expect(value == expected, "\(sql): \(value)")
    }
    try await rig.database.close()
  }

  @Test("timestamps and durations (URL Conventions 4.01 §5.1.1.2, §5.1.1.8)")
  func points() async throws {
    try await check([
      ("larder_moment_add('2024-02-28T23:00:00Z','PT2H')", .text("2024-02-29T01:00:00Z")),
      ("larder_moment_add('2024-02-28T23:00:00+02:00','PT2H')", .text("2024-02-29T01:00:00+02:00")),
      ("larder_moment_sub('2024-01-01T00:00:00','PT0.5S')", .text("2023-12-31T23:59:59.5")),
      ("larder_moment_add('2024-02-28','PT23H')", .text("2024-02-28")),
      ("larder_moment_sub('2024-02-28','PT1S')", .text("2024-02-27")),
      ("larder_moment_add('2024-02-28','P2D')", .text("2024-03-01")), ("larder_moment_add(NULL,'P1D')", .null),
      ("larder_moment_diff('2024-03-01','2024-02-28')", .text("P2D")),
      ("larder_moment_diff('2024-03-01T00:00:00Z','2024-03-01T00:00:00+01:00')", .text("PT1H")),
      ("larder_moment_diff('2024-03-01T00:00:00Z','2024-03-01T00:00:00.25Z')", .text("-PT0.25S")),
      ("larder_moment_diff('2024-03-01T00:00:00Z','2024-03-01')", .null),
      ("larder_duration_add('PT1H','PT59M60S')", .text("PT2H")), ("larder_duration_sub('PT1H','P1D')", .text("-PT23H")),
      ("larder_duration_neg('P1D')", .text("-P1D")), ("larder_duration_mul('PT10S',3)", .text("PT30S")),
      ("larder_duration_mul('PT10S','0.25')", .text("PT2.5S")), ("larder_duration_mul('PT10S',0.5)", .text("PT5S")),
      ("larder_duration_div('PT10S',4)", .text("PT2.5S")),
      ("larder_duration_div('PT1S',3)", .text("PT0.333333333333S")),
      ("larder_duration_div('PT2S',3)", .text("PT0.666666666667S")),
      ("larder_year('2024-02-29T23:30:00-05:00')", .integer(2024)), ("larder_year('-0044-03-15')", .integer(-44)),
      ("larder_month('2024-02-29')", .integer(2)), ("larder_day('2024-02-29T23:30:00-05:00')", .integer(29)),
      ("larder_hour('2024-02-29T23:30:00-05:00')", .integer(23)), ("larder_minute('23:31:07.5')", .integer(31)),
      ("larder_second('23:31:07.5')", .integer(7)), ("larder_second('2016-12-31T23:59:60Z')", .integer(60)),
      ("larder_hour('PT13H20M5S')", .integer(13)), ("larder_minute('PT13H20M5S')", .integer(20)),
      ("larder_hour('x')", .null),
      ("larder_fractionalseconds('2024-02-29T23:30:00.125Z')", .text("0.125")),
      ("larder_fractionalseconds('23:30:00')", .text("0")),
      ("larder_totaloffsetminutes('2024-02-29T23:30:00-05:30')", .integer(-330)),
      ("larder_totaloffsetminutes('2024-02-29T23:30:00Z')", .integer(0)),
      ("larder_date('2024-02-29T23:30:00-05:00')", .text("2024-02-29")),
      ("larder_time('2024-02-29T23:30:00.50-05:00')", .text("23:30:00.5")),
      ("larder_totalseconds('P1DT0.5S')", .text("86400.5")), ("larder_totalseconds('-PT1M')", .text("-60")),
    ])
  }

  @Test("strings (§5.1.1.5, §5.1.1.7)")
  func strings() async throws {
    try await check([
      ("larder_length('Alfreds Futterkiste')", .integer(19)), ("larder_length('äöü€🌍')", .integer(5)),
      ("larder_length('')", .integer(0)),
      ("larder_length('aäbc€defg🌍hijklmnop')", .integer(19)), ("larder_length('a' || char(0) || 'b')", .integer(3)),
      ("larder_length(NULL)", .null), ("larder_substring('Alfreds Futterkiste',1)", .text("lfreds Futterkiste")),
      ("larder_substring('Alfreds Futterkiste',1,2)", .text("lf")), ("larder_substring('a🌍b€',1,2)", .text("🌍b")),
      ("larder_substring('abc',5)", .text("")), ("larder_substring('abc',-2)", .text("bc")),
      ("larder_substring('abc',-9)", .text("abc")),
      ("larder_substring('abc',-2,1)", .text("b")), ("larder_substring('abc',0,99)", .text("abc")),
      ("larder_substring('abc',1,0)", .text("")),
      ("larder_substring('abc',9223372036854775807,9223372036854775807)", .text("")),
      ("larder_substring('abc',-9223372036854775807 - 1)", .text("abc")), ("larder_substring('abc',NULL)", .null),
      ("larder_startswith('Alfreds','Alf')", .integer(1)), ("larder_startswith('Alfreds','alf')", .integer(0)),
      ("larder_startswith('Al','Alf')", .integer(0)), ("larder_startswith('Al','')", .integer(1)),
      ("larder_startswith(NULL,'')", .null),
      ("larder_endswith('Futterkiste','kiste')", .integer(1)), ("larder_endswith('e','kiste')", .integer(0)),
      ("larder_endswith('e','')", .integer(1)),
      ("larder_tolower('ÄÖÜ ÀÇ ΣΑ I')", .text("äöü àç σα i")), ("larder_toupper('straße éø')", .text("STRASSE ÉØ")),
      ("larder_tolower('ABC xyz@[')", .text("abc xyz@[")), ("larder_toupper('abc XYZ`{')", .text("ABC XYZ`{")),
      ("larder_trim('  a b' || char(9,10,160,8195,12288))", .text("a b")), ("larder_trim('')", .text("")),
      ("larder_trim(' ' || char(8195))", .text("")),
      ("larder_trim('€')", .text("€")), ("larder_trim('a🌍 ')", .text("a🌍")),
    ])
  }

  @Test("patterns (§5.1.1.7.1; ECMAScript)")
  func patterns() async throws {
    let table: [(String, String, Bool)] = [
      ("Alfreds Futterkiste", "^A.*e$", true), ("Blfreds", "^A.*e$", false), ("xAbe", "A.*e", true), ("", "", true),
      ("", "^$", true),
      ("abc", "b", true), ("abc", "^b", false), ("abc", "^(a|b|c)+$", true), ("abd", "^(a|b|c)+$", false),
      ("aXc", "a[^a-z]c", true),
      ("2024-02-29", #"^\d{4}-\d{2}-\d{2}$"#, true), ("2024-2-29", #"^\d{4}-\d{2}-\d{2}$"#, false),
      ("aaa", "^a{2}$", false),
      ("aaa", "^a{2,}$", true), ("aaaa", "^a{2,3}$", false), ("", "^a{0,3}$", true), ("foo bar", #"\bbar\b"#, true),
      ("foobar", #"\bbar\b"#, false), ("foobar", #"\Bbar"#, true), ("a\nb", "a.b", false), ("a\nb", #"a[\s\S]b"#, true),
      ("x€y", "^x.y$", true),
      ("x🌍y", "^x.y$", true), ("🌍", #"^\u{1F30D}$"#, true), ("🌍", #"^\uD83C\uDF0D$"#, true), ("€", #"^\u20ac$"#, true),
      ("A", #"^\x41$"#, true),
      ("a.c", #"^a\.c$"#, true), ("abc", #"^a\.c$"#, false), ("]", "[\\]]", true), ("-", "[a\\-z]", true),
      ("-", "[a-]", true), ("b", "[a-c]", true),
      ("ab", "^(?:a|ab)(?:c|bcd)?(?<x>d*)$", true), ("colour", "colou?r", true), ("aaab", "^a*?b$", true),
      ("ac", "^a(?:b|)c$", true),
      ("abcabc", "^(abc){2}$", true), ("abcab", "^(abc){2}$", false), ("xyz", "^(x(y(z)?)?)?$", true),
      ("_9", #"^\w\w$"#, true), ("é", #"^\w$"#, false),
    ]
    let rig = try await SQLRig()
    for (text, pattern, expected) in table {
      let value = try await rig.value("larder_matches(?,?)", [.text(text), .text(pattern)])
      #expect(value == .integer(expected ? 1 : 0), "\(pattern) on \(text)")
    }
    let bad = [
      "(", ")", "[a", "a{2", "*a", "a**", "a{3,2}", #"\"#, #"(a)\1"#, "(?=a)", "(?<!a)b", "[z-a]", #"\u12"#, #"\q"#,
      #"\p{L}"#, "a{1000}{1000}",
      String(repeating: "(", count: 200),
    ]
    for pattern in bad {
      let error = await #expect(throws: StorageError.self, "\(pattern)") {
        try await rig.value("larder_matches('a',?)", [.text(pattern)])
      }
      #expect(error?.message.contains("matchesPattern") == true)
    }
    // Patterns with exponential time in backtracking engines.
    let long = String(repeating: "a", count: 20_000)
    #expect(try await rig.value("larder_matches(?,'^(a+)+$')", [.text(long + "b")]) == .integer(0))
    #expect(try await rig.value("larder_matches(?,'^(a|aa)*b$')", [.text(long + "b")]) == .integer(1))
    try await rig.database.close()
  }

  @Test("collections (§5.1.1.5, §5.1.1.6)")
  func collections() async throws {
    try await check([
      ("larder_hassubset('[4,1,3]','[4,1,3]')", .integer(1)), ("larder_hassubset('[4,1,3]','[1,3,4]')", .integer(1)),
      ("larder_hassubset('[4,1,3]','[3,1]')", .integer(1)), ("larder_hassubset('[4,1,3,1]','[1,1]')", .integer(1)),
      ("larder_hassubset('[1,2]','[1,1,2]')", .integer(0)), ("larder_hassubset('[1,2]','[]')", .integer(1)),
      ("larder_hassubsequence('[4,1,3]','[4,1,3]')", .integer(1)),
      ("larder_hassubsequence('[4,1,3]','[4,3]')", .integer(1)),
      ("larder_hassubsequence('[4,1,3,1]','[1,1]')", .integer(1)),
      ("larder_hassubsequence('[4,1,3]','[1,3,4]')", .integer(0)),
      ("larder_hassubsequence('[4,1,3]','[3,1]')", .integer(0)),
      ("larder_hassubsequence('[1,2]','[1,1,2]')", .integer(0)),
      ("larder_json_contains('[1,2,3]','[2,3]')", .integer(1)),
      ("larder_json_contains('[1,2,3]','[1,3]')", .integer(0)),
      ("larder_json_startswith('[1,2,3]','[1,2]')", .integer(1)),
      ("larder_json_endswith('[1,2,3]','[2,3]')", .integer(1)),
      ("larder_json_endswith('[1,2,3]','[1]')", .integer(0)), ("larder_json_indexof('[1,2,3]','[3]')", .integer(2)),
      ("larder_json_indexof('[1,2,3]','[4]')", .integer(-1)),
      ("larder_json_concat('[1]','[\"a\",null]')", .text("[1,\"a\",null]")),
      ("larder_json_substring('[1,2,3]',1)", .text("[2,3]")), ("larder_json_substring('[1,2,3]',-2,1)", .text("[2]")),
      ("larder_json_substring('[1,2,3]',9)", .text("[]")),
      ("larder_json_equal('{\"a\":1.0,\"b\":[2]}','{\"b\":[2],\"a\":1}')", .integer(1)),
      ("larder_json_equal('[1]','[\"1\"]')", .integer(0)), ("larder_hassubset(NULL,'[]')", .null),
      ("larder_hassubset('{}','[]')", .null),
    ])
  }

  @Test("casts (§5.1.1.10.1)")
  func casts() async throws {
    try await check([
      ("larder_cast(1,'Edm.Int32','Edm.String')", .text("1")),
      ("larder_cast(1,'Edm.Boolean','Edm.String')", .text("true")),
      ("larder_cast('1.50','Edm.Decimal','Edm.String')", .text("1.50")),
      ("larder_cast(0.1,'Edm.Double','Edm.String')", .text("0.1")),
      ("larder_cast(0.10000000149011612,'Edm.Single','Edm.String')", .text("0.1")),
      ("larder_cast(x'00ff','Edm.Binary','Edm.String')", .text("AP8")),
      ("larder_cast('2024-02-29','Edm.Date','Edm.String')", .text("2024-02-29")),
      (
        "larder_cast('{\"type\":\"Point\",\"coordinates\":[1,2]}','Edm.GeographyPoint','Edm.String')",
        .text("SRID=4326;Point(1.0 2.0)")
      ),
      ("larder_cast('12','Edm.String','Edm.Int32')", .integer(12)),
      ("larder_cast('x','Edm.String','Edm.Int32')", .null),
      ("larder_cast('300','Edm.String','Edm.Byte')", .null),
      ("larder_cast('true','Edm.String','Edm.Boolean')", .integer(1)),
      ("larder_cast('2024-02-29T00:00:00','Edm.String','Edm.DateTimeOffset')", .text("2024-02-29T00:00:00Z")),
      ("larder_cast('P1D','Edm.String','Edm.Duration')", .text("P1D")),
      ("larder_cast('1.5','Edm.String','Edm.Decimal')", .text("1.5")),
      ("larder_cast('2.5','Edm.Decimal','Edm.Int32')", .integer(3)),
      ("larder_cast(-2.5,'Edm.Double','Edm.Int64')", .integer(-3)),
      ("larder_cast(255,'Edm.Int32','Edm.Byte')", .integer(255)), ("larder_cast(256,'Edm.Int32','Edm.Byte')", .null),
      ("larder_cast(1e300,'Edm.Double','Edm.Int64')", .null), ("larder_cast(1e300,'Edm.Double','Edm.Single')", .null),
      ("larder_cast(0.1,'Edm.Double','Edm.Decimal')", .text("0.1")),
      ("larder_cast('0.1','Edm.Decimal','Edm.Double')", .real(0.1)),
      ("larder_cast(1,'Edm.Int32','Edm.Double')", .real(1)), ("larder_cast('NaN','Edm.Double','Edm.Int32')", .null),
      ("larder_cast('2024-02-29','Edm.Date','Edm.Int32')", .null),
      ("larder_cast(NULL,'Edm.Int32','Edm.String')", .null),
      ("larder_cast('ff','Edm.String','Edm.Guid')", .null),
    ])
  }

  @Test("geo (§5.1.1.11)")
  func geo() async throws {
    func point(_ x: Double, _ y: Double) -> String { "'{\"type\":\"Point\",\"coordinates\":[\(x),\(y)]}'" }
    let square =
      "'{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[4,6],[6,6],[6,4],[4,4]]]}'"
    let line = "'{\"type\":\"LineString\",\"coordinates\":[[0,0],[3,4],[3,5]]}'"
    let cap = "'{\"type\":\"Polygon\",\"coordinates\":[[[0,80],[90,80],[180,80],[-90,80],[0,80]]]}'"
    let dateLine = "'{\"type\":\"Polygon\",\"coordinates\":[[[170,0],[-170,0],[-170,10],[170,10],[170,0]]]}'"
    try await check([
      ("larder_geo_distance(\(point(0, 0)),\(point(3, 4)),'geometry')", .real(5)),
      ("round(larder_geo_distance(\(point(13.4, 52.5)),\(point(2.35, 48.85)),'geography') / 1000)", .real(877)),
      ("round(larder_geo_distance(\(point(0, 0)),\(point(180, 0)),'geography') / 1000)", .real(20015)),
      ("larder_geo_length(\(line),'geometry')", .real(6)),
      ("larder_geo_distance(NULL,\(point(0, 0)),'geometry')", .null),
      ("larder_geo_intersects(\(point(2, 2)),\(square),'geometry')", .integer(1)),
      ("larder_geo_intersects(\(point(5, 5)),\(square),'geometry')", .integer(0)),
      ("larder_geo_intersects(\(point(11, 5)),\(square),'geometry')", .integer(0)),
      ("larder_geo_intersects(\(point(10, 5)),\(square),'geometry')", .integer(1)),
      ("larder_geo_intersects(\(point(0, 0)),\(square),'geometry')", .integer(1)),
      ("larder_geo_intersects(\(point(4, 5)),\(square),'geometry')", .integer(1)),
      ("larder_geo_intersects(\(point(-1, 10)),\(square),'geometry')", .integer(0)),
      ("larder_geo_intersects(\(point(2, 2)),\(square),'geography')", .integer(1)),
      ("larder_geo_intersects(\(point(5, 10.03)),\(square),'geography')", .integer(1)),
      ("larder_geo_intersects(\(point(5, 10.1)),\(square),'geography')", .integer(0)),
      ("larder_geo_intersects(\(point(45, 89)),\(cap),'geography')", .integer(1)),
      ("larder_geo_intersects(\(point(45, 70)),\(cap),'geography')", .integer(0)),
      ("larder_geo_intersects(\(point(0, -89)),\(cap),'geography')", .integer(0)),
      ("larder_geo_intersects(\(point(180, 5)),\(dateLine),'geography')", .integer(1)),
      ("larder_geo_intersects(\(point(-175, 5)),\(dateLine),'geography')", .integer(1)),
      ("larder_geo_intersects(\(point(0, 5)),\(dateLine),'geography')", .integer(0)),
    ])
  }
}
