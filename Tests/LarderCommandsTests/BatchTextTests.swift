import LarderHTTP
import Testing

@testable import LarderCommands

@Suite("The text format of a batch", .timeLimit(.minutes(5)))
struct BatchTextTests {
  static func read(_ text: String) throws(BatchText.Problem) -> [BatchText.Part] {
    try BatchText.read(Array(text.utf8))
  }

  @Test("Blocks, headers, contents, change sets", arguments: ["\n", "\r\n"])
  func whole(end: String) throws {
    let text = """
      # two reads and a change set
      GET Products?$top=2&$orderby=Name desc
      ---
      GET Categories('a b')
      Accept: application/json

      ---
      changeset {
      POST Products
      Content-ID: 1

      {
        "Name": "Chai", "Note": "}\\n---",
        "Tags": [
          "---"
        ]
      }
      ---
      DELETE Products(7)
      If-Match: *
      }
      ---
      GET Products(1)
      """
    let parts = try Self.read(text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: end))
    #expect(parts.count == 4)
    guard case .single(let first) = parts[0], case .single(let second) = parts[1],
      case .changeSet(let changes) = parts[2]
    else {
      Issue.record("the parts are \(parts)")
      return
    }
    #expect(first.path == "Products?$top=2&$orderby=Name desc")
    #expect(first.line == 2)
    #expect(second.fields[.accept] == "application/json")
    #expect(second.content.isEmpty)
    #expect(changes.map(\.method) == [.post, .delete])
    #expect(changes[0].fields[.contentID] == "1")
    let content = String(decoding: changes[0].content, as: UTF8.self)
    #expect(content.hasPrefix("{\n  \"Name\"") && content.hasSuffix("]\n}"))
    #expect(changes[1].fields[.ifMatch] == "*")
  }

  @Test("Content that is not JSON ends at the next ---")
  func otherContent() throws {
    guard
      case .single(let request) = try Self.read(
        "PUT P(1)/$value\nContent-Type: text/plain\n\nnot {\nchangeset {\n---\nGET P")[0]
    else { return }
    #expect(String(decoding: request.content, as: UTF8.self) == "not {\nchangeset {")
  }

  @Test(
    "An error names the line number",
    arguments: [
      ("", 1, "the file contains no request"), ("# nothing\n\n", 3, "the file contains no request"),
      ("Products", 1, "'Products' is not a request line, such as GET Products(1)"),
      ("get Products", 1, "'get Products' is not a request line, such as GET Products(1). Did you mean 'GET'?"),
      ("GET", 1, "'GET' is not a request line, such as GET Products(1). Did you mean 'GET'?"),
      ("GET P\nAccept", 2, "'Accept' is not a header field; an empty line must precede the content"),
      ("GET P\nA b: c", 2, "'A b: c' is not a valid header field"),
      ("changeset {\nGET P\n}", 2, "a change set must not contain GET"),
      ("changeset {\n}", 2, "the change set is empty"),
      ("changeset {\nDELETE P", 2, "the change set is not closed by }"),
      ("changeset {\nchangeset {", 2, "a change set must not contain another change set"),
      ("GET P\nchangeset {", 2, "--- is missing before the change set"),
      ("GET P\n---\n}", 3, "} without a change set"),
    ])
  func wrong(text: String, line: Int, reason: String) {
    #expect(throws: BatchText.Problem(line: line, reason: reason)) { try Self.read(text) }
  }

  @Test("Bytes that are not text, and 100,000 levels of nesting, do not crash")
  func hostile() {
    #expect(throws: BatchText.Problem.self) { try BatchText.read([0xFF, 0xFE]) }
    let deep = "POST P\n\n" + String(repeating: "[\n", count: 100_000) + "}\n---\nGET Q"
    #expect((try? Self.read(deep))?.count == 2)
  }
}
