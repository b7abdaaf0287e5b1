import Foundation
import LarderTestSupport
import Testing

/// The code in articles, as readers see it.
enum ArticleCode {
  /// A block of code between two fences.
  struct Block: Equatable {
    /// The line of its first fence, from 1.
    let line: Int
    /// What follows the first fence.
    let language: String
    var lines: [String]
  }

  /// What may follow a fence. Only blocks of Swift are code that readers copy.
  static let languages: Set = ["swift", "text", "json", "csharp"]

  /// The documents with code for users: the README and everything below `docs`.
  static let documents = SourceFile.all(below: ["README.md", "docs"], extensions: ["md"])

  /// The lines that documents may quote, of each snippet, and of the article's code that a test runs.
  static let snippets = SourceFile.all(
    below: ["Snippets", "Tests/LarderObjectsTests/Article/FriendsList.swift"], extensions: ["swift"]
  ).map { shownLines(of: $0.text) }

  /// The lines of a snippet without those from `// snippet.hide` to `// snippet.show`.
  static func shownLines(of snippet: String) -> [String] {
    var isHidden = false
    return snippet.components(separatedBy: "\n").filter { line in
      switch trimmed(line) {
      case "// snippet.hide": isHidden = true
      case "// snippet.show": isHidden = false
      default: return !isHidden
      }
      return false
    }
  }

  /// All blocks of a document.
  static func blocks(in text: String) -> [Block] {
    var blocks: [Block] = []
    var open: Block?
    for (index, line) in text.components(separatedBy: "\n").enumerated() {
      let fence = trimmed(line)
      if let block = open {
        if fence.hasPrefix("```") {
          blocks.append(block)
          open = nil
        } else {
          open?.lines.append(line)
        }
      } else if fence.hasPrefix("```") {
        open = Block(line: index + 1, language: String(fence.dropFirst(3)), lines: [])
      }
    }
    // A block that does not end is one that the reader sees, too.
    if let open { blocks.append(open) }
    return blocks
  }

  /// The blocks of Swift, without manifests of packages, which no snippet can be.
  static func swiftBlocks(in text: String) -> [Block] {
    blocks(in: text).filter { $0.language == "swift" && $0.lines.first?.hasPrefix("// swift-tools-version") != true }
  }

  /// The blocks that no build compiles: Swift that is not a run of lines of one snippet, and unknown languages.
  static func uncompiledBlocks(in text: String, snippets: [[String]]) -> [Block] {
    blocks(in: text).filter { !languages.contains($0.language) }
      + swiftBlocks(in: text).filter { block in !snippets.contains { isRun(block.lines, of: $0) } }
  }

  /// Whether the code has these lines in this order, with nothing between them, and at any common indentation.
  private static func isRun(_ lines: [String], of code: [String]) -> Bool {
    guard lines.contains(where: { !trimmed($0).isEmpty }), lines.count <= code.count else { return false }
    let first = trimmed(lines[0])
    let wanted = unindented(lines[...])
    return (0...code.count - lines.count).contains { start in
      trimmed(code[start]) == first && unindented(code[start..<start + lines.count]) == wanted
    }
  }

  /// The lines without the indentation that all of them have.
  private static func unindented(_ lines: ArraySlice<String>) -> [String] {
    let common = lines.filter { !trimmed($0).isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    return lines.map { trimmed($0).isEmpty ? "" : String($0.dropFirst(common)) }
  }

  /// Whether a string in the line contains one of the names as a word.
  static func names(_ names: Set<String>, inStringsOf line: String) -> Bool {
    !names.isDisjoint(with: textOfStrings(in: line).matches(of: #/\w+/#).map { String($0.0) })
  }

  /// The text of all strings in the line, also of those inside of interpolations, which themselves are code.
  private static func textOfStrings(in line: String) -> String {
    var text = ""
    /// What contains the character: code with a number of open parentheses, or a string, which is nil.
    var open: [Int?] = [0]
    var isEscaped = false
    for character in line {
      guard let innermost = open.last else { break }
      switch (innermost, character) {
      case (nil, "(") where isEscaped: open.append(0)
      case (nil, _) where isEscaped: text += " "
      case (nil, "\\"):
        isEscaped = true
        continue
      case (nil, "\""): open.removeLast()
      case (nil, _): text.append(character)
      case (_, "\""):
        open.append(nil)
        text += " "
      case (let depth?, "("): open[open.count - 1] = depth + 1
      case (0?, ")") where open.count > 1:
        open.removeLast()
        text += " "
      case (let depth?, ")"): open[open.count - 1] = depth - 1
      default: break
      }
      isEscaped = false
    }
    return text
  }

  private static func trimmed(_ line: some StringProtocol) -> String { line.trimmingCharacters(in: .whitespaces) }
}

@Suite("Code in articles", .timeLimit(.minutes(5)))
struct ArticleCodeTests {
  @Test("Each block of Swift in the documents is a run of lines of one snippet, which the build compiles")
  func code() {
    #expect(ArticleCode.documents.contains { $0.path == "README.md" })
    for document in ArticleCode.documents {
      let violations = ArticleCode.uncompiledBlocks(in: document.text, snippets: ArticleCode.snippets)
        .map { "\(document.path):\($0.line): \($0.language)\n\($0.lines.joined(separator: "\n"))" }
      #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }
  }

  @Test("The application that is written twice has the lines that its article counts, and names properties as it says")
  func comparison() throws {
    let article = try #require(SourceFile.all(below: ["docs/Larder.docc/OneApplicationTwice.md"]).first).text
    let snippet = try #require(SourceFile.all(below: ["Snippets/OneApplicationTwice.swift"]).first).text
    let parts = snippet.components(separatedBy: "// snippet.hide")
    try #require(parts.count == 2)
    // The properties of the generated types, and those of the error archive that the article's code reads.
    let archive = ["RequestID", "RequestURL", "HTTPStatusCode", "Message", "AffectedEntity"]
    let names = Set(parts[1].matches(of: #/case `?\w+`? = "(\w+)"/#).map { String($0.1) } + archive)
    #expect(names.isSuperset(of: ["Customer", "Note", "Items", "Quantity"]))
    let larder = try #require(ArticleCode.swiftBlocks(in: article).first).lines
    let sap = try #require(article.components(separatedBy: "```text\n").last?.components(separatedBy: "\n```").first)
      .components(separatedBy: "\n")
    let lines = [sap, larder].map { $0.count { !$0.isEmpty } }
    let naming = [sap, larder].map { $0.count { ArticleCode.names(names, inStringsOf: $0) } }
    #expect(article.contains("| lines without empty ones | \(lines[0]) | \(lines[1]) |"))
    #expect(article.contains("| lines with a property's name in a string | \(naming[0]) | \(naming[1]) |"))
    #expect(lines[1] < lines[0] && naming[0] > 0 && naming[1] == 0)
    // No line of the whole program does, not only those that the article shows.
    let program = parts[0].components(separatedBy: "\n").filter { ArticleCode.names(names, inStringsOf: $0) }
    #expect(program.isEmpty, "\(program)")
  }

  @Test(
    "A run of lines of one snippet passes, at any indentation and without hidden lines",
    arguments: [
      "let a = 1\n\nif a == 1 {\n  print(a)\n}", "  if a == 1 {\n    print(a)\n  }", "  print(a)\n}", "print(a)",
      "let b = 2\nlet d = 4", "// swift-tools-version: 6.2\nlet package = Package()",
    ])
  func goodBlock(code: String) {
    #expect(uncompiled("```swift\n\(code)\n```") == [])
  }

  @Test(
    "Lines in another order, from two places or two snippets, with another indentation, or hidden ones do not pass",
    arguments: [
      "let unknown = 2", "let a = 1\nif a == 1 {", "let a = 1\n\nprint(a)", "print(a)\n  }", "print(a)\nlet a = 1",
      "let c = 3", "let b = 2\nlet c = 3", "// snippet.hide", "}\nlet b = 2", "",
    ])
  func badBlock(code: String) {
    #expect(uncompiled("```swift\n\(code)\n```") == [1])
    #expect(uncompiled("1. A list:\n   ```swift\n   \(code)\n") == [2])
  }

  @Test("Blocks in other known languages are ignored, and those of unknown ones or without any are found")
  func languages() {
    #expect(uncompiled("```csharp\nawait x;\n```\n```json\n1\n```\n```text\nlet x = 1\n```") == [])
    #expect(uncompiled("Text\n```Swift\nlet a = 1\n```\n```\nls\n```") == [2, 5])
  }

  /// The lines of the blocks of a text that are not code of these snippets.
  private func uncompiled(_ text: String) -> [Int] {
    let snippets = [
      "let a = 1\n\nif a == 1 {\n  print(a)\n}\n",
      "  let b = 2\n  // snippet.hide\n  let c = 3\n  // snippet.show\n  let d = 4\n",
    ]
    return ArticleCode.uncompiledBlocks(in: text, snippets: snippets.map(ArticleCode.shownLines)).map(\.line)
  }

  @Test(
    "Names are found in strings, also in those inside of interpolations, and not in code",
    arguments: [
      (#"property("Note")"#, true), (#"text("a", "b Note c")"#, true), (#""\(text($0, property("Note"))) of""#, true),
      (#""\(a) \(property("x", (1)) + "y") Note""#, true), (#""\(property("\(b("Note"))"))""#, true),
      (#"Note("a", "b")"#, false), (#""a" + Note + "b""#, false), (#""\(Note) and \(text(Note))""#, false),
      (#""Notes" + "\"" + Note"#, false), ("Note", false), ("", false),
    ])
  func names(line: String, isPresent: Bool) {
    #expect(ArticleCode.names(["Note"], inStringsOf: line) == isPresent)
  }

  @Test("The landing page links to each article, and has no dead links")
  func links() throws {
    let folder = "docs/Larder.docc"
    let landing = try #require(SourceFile.all(below: ["\(folder)/Larder.md"]).first)
    let links = landing.text.matches(of: #/^- <doc:(\w+)>$/#.anchorsMatchLineEndings()).map { String($0.1) }
    let articles = SourceFile.all(below: [folder], extensions: ["md"])
      .filter { $0.path != landing.path && !$0.text.hasPrefix("# ``") }
      .map { String($0.path.dropFirst(folder.count + 1).dropLast(3)) }
    #expect(links.sorted() == articles.sorted())
  }
}
