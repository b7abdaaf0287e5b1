import Foundation
import LarderTestSupport
import Testing

/// The code in articles, as readers see it.
enum ArticleCode {
  /// The articles whose code is compiled: each line of it occurs in one of the snippets.
  static let articles = [
    "GettingStarted", "TypedServices", "TheOnlineStore", "SwiftUIAndObservation", "TestingYourApplication",
    "BackgroundWork", "Performance", "Troubleshooting", "Diagnostics", "ComingFromDatasync", "ComingFromOkHttpOrNuke",
  ]

  /// The lines of each block of Swift, without manifests of packages.
  static func swiftBlocks(in text: String) -> [[String]] {
    var blocks: [[String]] = []
    var block: [String]?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let lines = block {
        if line.hasPrefix("```") {
          blocks.append(lines)
          block = nil
        } else {
          block?.append(String(line))
        }
      } else if line == "```swift" {
        block = []
      }
    }
    // A block that does not end is one that the reader sees, too.
    if let block { blocks.append(block) }
    return blocks.filter { $0.first?.hasPrefix("// swift-tools-version") != true }
  }

  /// The lines of blocks that no snippet has, without the spaces around them.
  static func uncompiledLines(in text: String, snippets: Set<String>) -> [String] {
    swiftBlocks(in: text).joined().map { trimmed($0) }.filter { !$0.isEmpty && !snippets.contains($0) }
  }

  /// All lines of these texts, without the spaces around them.
  static func lines(of texts: [String]) -> Set<String> {
    Set(texts.flatMap { $0.split(separator: "\n").map { trimmed($0) } })
  }

  private static func trimmed(_ line: some StringProtocol) -> String { line.trimmingCharacters(in: .whitespaces) }
}

@Suite("Code in articles", .timeLimit(.minutes(5)))
struct ArticleCodeTests {
  static let snippets = ArticleCode.lines(
    of: SourceFile.all(below: ["Snippets"], extensions: ["swift"]).map(\.text))

  @Test("Each line of code is in a snippet, which the build compiles", arguments: ArticleCode.articles)
  func code(article: String) throws {
    let file = try #require(SourceFile.all(below: ["docs/Larder.docc/\(article).md"]).first)
    #expect(!ArticleCode.swiftBlocks(in: file.text).isEmpty, "\(article) has no code")
    let violations = ArticleCode.uncompiledLines(in: file.text, snippets: Self.snippets)
    #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
  }

  @Test("A line that is in no snippet is found; manifests and other languages are ignored")
  func badSample() {
    let text = """
      ```swift
      // swift-tools-version: 6.2
      let package = Package()
      ```
      ```csharp
      await table.PullAsync();
      ```
      ```swift
        let known = 1

      let unknown = 2
      ```
      """
    let snippets = ArticleCode.lines(of: ["  let known = 1\n"])
    #expect(ArticleCode.uncompiledLines(in: text, snippets: snippets) == ["let unknown = 2"])
    #expect(ArticleCode.swiftBlocks(in: text).count == 1)
    #expect(ArticleCode.swiftBlocks(in: "```swift\nlet open = 1\n") == [["let open = 1", ""]])
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
