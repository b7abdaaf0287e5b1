import LarderOData
import Testing

@testable import LarderCommands

@Suite("Results as tables", .timeLimit(.minutes(1)))
struct ResultTableTests {
  private func rows(_ json: String) throws -> PrintedRows { PrintedRows(try JSONNode(Array(json.utf8))) }

  @Test("Columns in the order of their first appearance, without control information, in V2 and V4")
  func columns() throws {
    let v4 = try rows(
      ##"{"@odata.context":"x","@odata.count":7,"value":[{"@odata.etag":"e","A":1,"N@odata.navigationLink":"l"},"##
        + ##"{"A":2,"B":null,"C":[1,"z"]}],"@odata.nextLink":"n"}"##)
    #expect(v4.columns == ["A", "B", "C"])
    #expect(v4.rows.map { $0.map { PrintedRows.text($0, null: "-") } } == [["1", "-", "-"], ["2", "-", #"[1,"z"]"#]])
    #expect(v4.count == "7")
    #expect(v4.nextLink == "n")
    let v2 = try rows(
      #"{"d":{"results":[{"__metadata":{"uri":"u"},"A":"1","N":{"__deferred":{"uri":"v"}}}],"__count":"7","__next":"n"}}"#
    )
    #expect(v2.columns == ["A"])
    #expect(v2.count == "7")
    #expect(v2.nextLink == "n")
  }

  @Test(
    "One entity, one value, references and an empty collection are tables too",
    arguments: [
      (#"{"@odata.context":"x","A":1,"B":{"C":true}}"#, ["A", "B"], [["1", #"{"C":true}"#]]),
      (#"{"@odata.context":"x","value":"text"}"#, ["value"], [["text"]]),
      (#"{"value":[1,2]}"#, ["value"], [["1"], ["2"]]),
      (#"{"value":[{"@odata.id":"Products(1)"}]}"#, ["@id"], [["Products(1)"]]),
      (#"{"d":{"A":"1"}}"#, ["A"], [["1"]]),
      (#"{"value":[]}"#, [], []),
    ])
  func shapes(_ json: String, _ columns: [String], _ cells: [[String]]) throws {
    let rows = try rows(json)
    #expect(rows.columns == columns)
    #expect(rows.rows.map { $0.map { PrintedRows.text($0, null: "-") } } == cells)
  }

  @Test("A table aligns its columns, numbers to the right, each row on one line")
  func table() throws {
    let rows = try rows(#"{"value":[{"ID":1,"Name":"a\nb","X":null},{"ID":20,"Name":"longer","X":"y"}]}"#)
    #expect(PrintedTable.text(rows, style: .plain) == "ID  Name    X\n 1  a b     -\n20  longer  y\n")
  }

  @Test("CSV quotes what it must (RFC 4180), and null is empty")
  func csv() throws {
    let rows = try rows(#"{"value":[{"A":"x,y","B":"say \"hi\""},{"A":null,"B":"two\nlines"},{"A":" ","B":1.50}]}"#)
    #expect(PrintedTable.csv(rows) == "A,B\r\n\"x,y\",\"say \"\"hi\"\"\"\r\n,\"two\nlines\"\r\n ,1.50\r\n")
  }

  @Test("CSV doubles a quote before a combining mark, and distinguishes an empty text from null")
  func csvEdges() throws {
    let rows = try rows(#"{"value":[{"A":"\"\u0301x","B":""},{"A":"=1+1","B":null}]}"#)
    #expect(PrintedTable.csv(rows) == "A,B\r\n\"\"\"\u{301}x\",\"\"\r\n=1+1,\r\n")
  }

  @Test("Without rows, the columns are those of the query")
  func noRows() throws {
    let none = PrintedRows(try JSONNode(Array(#"{"value":[]}"#.utf8)), names: ["A", "B"])
    #expect(PrintedTable.csv(none) == "A,B\r\n")
    #expect(PrintedTable.text(none, style: .plain) == "A  B\n")
  }
}

@Suite("Progress of downloads", .timeLimit(.minutes(1)))
struct DownloadBarsTests {
  @Test("A line has a bar if the total is known, and fits the terminal")
  func line() {
    let line = DownloadBars.Line(step: "reading", rows: 5000, bytes: 1_234_567, total: 20_000)
    #expect(
      DownloadBars.text("Products", line, nameWidth: 8)
        == "Products  [#####...............]  25 %  5000 rows, 1.2 MB  reading")
    #expect(DownloadBars.text("P", DownloadBars.Line(rows: 7), nameWidth: 4) == "P     7 rows")
    let wide = DownloadBars.Line(
      step: "a very long step's name", rows: 1_000_000_000, bytes: 99_999_999_999, total: 1)
    #expect(DownloadBars.text(String(repeating: "n", count: 99), wide, nameWidth: 24).count < 110)
  }

  @Test("On a narrow terminal no line wraps", arguments: [10, 30, 60])
  func narrow(_ columns: Int) {
    let diagnostics = Collector()
    var context = Rig().context(Collector(), diagnostics)
    context.diagnostics = diagnostics.port(isTerminal: true, columns: columns)
    let bars = DownloadBars(context)
    bars.update("a name that takes much room") {
      $0 = .init(step: "reading", rows: 5000, bytes: 1_234_567, total: 20_000)
    }
    let lines = diagnostics.text.split(separator: "\n").map { $0.replacing("\u{1B}[K", with: "") }
    #expect(lines.count == 1)
    #expect(lines.allSatisfy { $0.count < columns && !$0.isEmpty })
    bars.end()
  }

  @Test("Lines are redrawn in place on a terminal and removed at the end; elsewhere nothing is written")
  func drawing() {
    let output = Collector()
    let diagnostics = Collector()
    var context = Rig().context(output, diagnostics)
    let silent = DownloadBars(context)
    silent.update("A") { $0.rows = 1 }
    silent.end()
    #expect(diagnostics.text.isEmpty)
    context.diagnostics = diagnostics.port(isTerminal: true)
    let bars = DownloadBars(context)
    bars.update("A") { $0.rows = 1 }
    bars.end()
    #expect(diagnostics.text == "A  1 rows\u{1B}[K\n\u{1B}[1A\u{1B}[J")
  }
}
