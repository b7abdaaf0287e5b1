import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("larder parse", .timeLimit(.minutes(5)))
struct ParseVerbTests {
  @Test("A URL is shown as an outline")
  func outline() async {
    let outcome = await Rig().run("parse", "https://h/s/Products(1)?$filter=Price gt 5 and Name ne 'x y'&$top=3")
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    #expect(
      outcome.output == """
        url https://h/s/
          resource: path
            name Products
            arguments
              argument
                value: literal Edm.Int32 1
          top=3
          filter: and
            gt
              path
                name Price
              literal Edm.Int32 5
            ne
              path
                name Name
              literal Edm.String "x y"

        """)
  }

  @Test(
    "--json prints every tree as JSON",
    arguments: [
      (["Products?$orderby=A desc"], #""orderby":[{"kind":"desc","expression":{"kind":"path""#),
      (["$select=A,B/C"], #"{"kind":"options","options":{"select":[{"kind":"item","path":"#),
      (["?$top=1"], #""top":1"#), (["$crossjoin(A,B)"], #"{"kind":"$crossjoin","sets":["A","B"]}"#),
      (["--rule", "commonExpr", "--", "-Price add 2.5"], #"{"kind":"literal","type":"Edm.Decimal","value":2.5}"#),
      (["--rule", "boolCommonExpr", "Items/any(i:i/N eq null)"], #""variable":"i""#),
      (["--rule", "boolCommonExpr", "not ID in (1,2)"], #"{"kind":"not","operand":{"kind":"in""#),
      (["--rule", "applyExpr", "groupby((A),aggregate(B with sum as C))"], #""kind":"groupby","elements""#),
      (["--rule", "preference", "return=minimal"], #"{"kind":"return","value":"minimal"}"#),
      (["--rule", "dateValue", "2020-01-02"], #"{"kind":"literal","type":"Edm.Date","value":"2020-01-02"}"#),
      (["--v2", "P?$filter=substringof('x',N)&$inlinecount=allpages"], #""function":"substringof""#),
      (["--odata-version", "4.0", "P?top=1"], #"{"kind":"custom","name":"top","value":"1"}"#),
      (["$metadata#Customers(Name)/$entity"], #""item":"$entity""#),
    ] as [([String], String)])
  func json(arguments: [String], part: String) async throws {
    let outcome = await Rig().run(["parse", "--json"] + arguments)
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    _ = try JSONNode(outcome.outputBytes)
    #expect(outcome.output.contains(part), "\(outcome.output)")
  }

  @Test("A text that cannot be parsed exits with 1 and shows the position")
  func rejected() async {
    let outcome = await Rig().run("parse", "?$filter=Price gt")
    #expect(outcome.status == .negative)
    #expect(outcome.output.isEmpty)
    let lines = outcome.diagnostics.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.first?.hasPrefix("larder: ") == true)
    #expect(lines.first?.contains("(at character 1") == true)
    #expect(lines.contains("  ?$filter=Price gt"))
    #expect(lines.contains { $0.hasSuffix("^") })
  }

  @Test(
    "Wrong usage exits with 2",
    arguments: [
      ["parse"], ["parse", "--rule", "fliter", "x"], ["parse", "--v2", "--odata-version", "4.0", "x"],
      ["parse", "--odata-version", "5.0", "x"], ["parse", "--lines", "x"], ["parse", "--set", "P", "x"],
    ])
  func usage(arguments: [String]) async {
    #expect(await Rig().run(arguments).status == .usage)
  }

  @Test("With a model, names are looked up, and the nearest one is suggested")
  func model() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Array(MetadataVerbTests.v4.utf8), to: "m.xml")
    let bound = await Rig().run("parse", "--model", file, "Products?$filter=ID eq 1")
    #expect(bound.status == .done, "\(bound.diagnostics)")
    #expect(bound.output.contains("property ID Edm.Int32"))
    let misspelt = await Rig().run("parse", "--model", file, "--set", "Products", "$filter=Prise gt 1")
    #expect(misspelt.status == .negative)
    #expect(misspelt.diagnostics.contains("did you mean 'Price'?"))
    #expect(misspelt.diagnostics.contains("(at character 9)"))
    #expect(await Rig().run("parse", "--model", file, "$filter=ID eq 1").status == .usage)
    for type in ["Shop.Product", "Collection(Shop.Product)"] {
      let typed = await Rig().run("parse", "--model", file, "--type", type, "$filter=ID eq 1&$select=ID&$top=2")
      #expect(typed.status == .done && typed.output.contains("property ID Edm.Int32"), "\(typed.diagnostics)")
    }
    for (context, status) in [
      ("#Products(ID)", CommandStatus.done), ("#Products(Address/AddressWithLocation)", .negative),
    ] {
      #expect(await Rig().run("parse", "--model", file, "--rule", "context", context).status == status)
    }
    let expression = await Rig().run("parse", "--model", file, "--set", "Products", "--rule", "commonExpr", "ID add 1")
    #expect(expression.output.hasPrefix("add Edm."), "\(expression.output) \(expression.diagnostics)")
  }
}

@Suite("larder parse --lines", .timeLimit(.minutes(5)))
struct ParseLinesTests {
  @Test("Each line has a result, in order; a malformed line does not end the run")
  func lines() async {
    let input = """
      {"rule":"filter","input":"$filter=Price gt 5"}
      {"rule":"guid","input":"01234567-89ab-cdef-456789abcdef"}
      no JSON
      {"rule":"nothing","input":"x"}
      {"rule":"boolCommonExpr"}
      {"input":"Products?$top=1"}

      {"rule":"stringLiteral","input":"'é%27x'"}
      {"rule":5,"input":"x"}
      {"rule":"null","input":"null"}
      """
    let outcome = await Rig(input: Array(input.utf8)).run("parse", "--lines")
    #expect(outcome.status == .done)
    let responses = outcome.output.split(separator: "\n").map(String.init)
    #expect(responses.count == 10)
    #expect(responses.first == #"{"ok":true,"failAt":null,"message":null}"#)
    #expect(responses[1].hasPrefix(#"{"ok":false,"failAt":23,"message":""#))
    #expect(responses[2].hasPrefix(#"{"ok":false,"failAt":null,"message":"the line is not JSON"#))
    #expect(responses[3].contains("no rule 'nothing'"))
    #expect(responses[4].hasPrefix(#"{"ok":false,"failAt":null"#))
    #expect(responses[5] == responses[0])
    #expect(responses[6].hasPrefix(#"{"ok":false,"failAt":null"#))
    #expect(responses[7].hasPrefix(#"{"ok":false,"failAt":5,"#), "\(responses[7])")
    #expect(responses[8].hasPrefix(#"{"ok":false,"failAt":null"#))
    #expect(responses[9] == responses[0])
  }

  @Test("Lines arrive in pieces of any size")
  func pieces() {
    var lines = ParseLines { _, input in input == "bad" ? .init(offset: 1, message: "m") : nil }
    for byte in #"{"input":"bad"}"#.utf8 { lines.take([byte]) }
    #expect(lines.takeResults().isEmpty)
    lines.take(Array("\r\n{\"input\":\"x\"}\n".utf8))
    #expect(
      String(decoding: lines.takeResults(), as: UTF8.self)
        == "{\"ok\":false,\"failAt\":1,\"message\":\"m\"}\n{\"ok\":true,\"failAt\":null,\"message\":null}\n")
  }

  @Test("A line without an end is rejected, not kept in memory")
  func tooLong() {
    var lines = ParseLines { _, _ in nil }
    let megabyte = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
    for _ in 0..<20 { lines.take(megabyte) }
    lines.take([0x0A])
    lines.take(Array("{\"input\":\"x\"}\n".utf8))
    let responses = String(decoding: lines.takeResults(), as: UTF8.self).split(separator: "\n")
    #expect(responses.count == 2)
    #expect(responses.first?.contains("longer than") == true)
    #expect(responses.last?.hasPrefix("{\"ok\":true") == true)
  }
}
