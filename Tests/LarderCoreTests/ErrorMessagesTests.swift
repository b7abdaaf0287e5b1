import Foundation
import LarderCore
import Testing

/// The texts of the package's errors that a person reads.
@Suite("Error messages", .timeLimit(.minutes(1)))
struct ErrorMessagesTests {
  @Test("Foundation shows the message, the cure and the stable number of each error", arguments: ErrorSamples.kinds)
  func foundation(_ kind: ErrorSamples.Kind) throws {
    for error in kind.samples {
      let bridged = try bridged(error)
      #expect(error.localizedDescription == error.explanation.message)
      #expect(bridged.localizedDescription == error.explanation.message)
      #expect(bridged.localizedRecoverySuggestion == error.explanation.cure)
      #expect(bridged.code == error.errorCode)
      #expect(bridged.domain == kind.domain)
      #if canImport(Darwin)
        #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == error.explanation.message)
        #expect(error.errorUserInfo[NSLocalizedRecoverySuggestionErrorKey] as? String == error.explanation.cure)
      #endif
    }
  }

  /// The error as an `NSError`. On Apple platforms a cast converts it; the compile check for these platforms has no other conversion.
  private func bridged(_ error: any Error) throws -> NSError {
    #if canImport(Darwin)
      try #require((error as AnyObject) as? NSError)
    #else
      error as NSError
    #endif
  }

  @Test("Each text consists of whole sentences, with a mark between them", arguments: ErrorSamples.kinds)
  func sentences(_ kind: ErrorSamples.Kind) {
    for error in kind.samples {
      let text = error.explanation
      for part in [text.message, text.cure] {
        #expect(Sentences.faults(of: part) == [], "\(kind.domain) \(error.errorCode): \(part)")
      }
      // The first line of what `print` shows, which may contain the cure too.
      let line = String("\(error)".prefix { $0 != "\n" })
      #expect(Sentences.faults(within: line) == [], "\(kind.domain) \(error.errorCode): \(line)")
      if let range = line.range(of: " " + text.cure) {
        #expect(".?!".contains(line[..<range.lowerBound].last ?? " "), "\(kind.domain): \(line)")
      }
    }
  }

  @Test("The numbers of a type are those of the documentation, and each has a sample", arguments: ErrorSamples.kinds)
  func numbers(_ kind: ErrorSamples.Kind) throws {
    let codes = Set(kind.samples.map(\.errorCode)).subtracting(kind.statuses)
    guard kind.count > 0 else { return }
    #expect(codes == Set(1...kind.count))
    let article = try Self.article
    for error in kind.samples where !kind.statuses.contains(error.errorCode) {
      let row = "| `\(kind.domain)` | \(error.errorCode) | `\(error.errorName)` |"
      #expect(article.contains(row), "no row in docs/Larder.docc/NumbersOfErrors.md: \(row)")
    }
  }

  @Test(
    "Mistakes in texts are detected",
    arguments: [
      "no capital.", "No end", "Two ends..", "It broke off.: why.", "The log Check the path.", "It is a Int.",
      "Two  blanks.",
      "It failed (so.).",
    ])
  func rules(_ text: String) {
    #expect(Sentences.faults(of: text, cures: ["Check the path."]) != [])
  }

  private static var article: String {
    get throws {
      var folder = URL(filePath: #filePath)
      for _ in 0..<3 { folder.deleteLastPathComponent() }
      return try String(contentsOf: folder.appending(path: "docs/Larder.docc/NumbersOfErrors.md"), encoding: .utf8)
    }
  }
}

/// The rules for texts of whole sentences.
enum Sentences {
  /// The mistakes in a text of whole sentences.
  static func faults(of text: String, cures: [String] = []) -> [String] {
    var faults = faults(within: text)
    if let first = text.first, first.isLowercase { faults.append("begins with a small letter") }
    if let last = text.last, !".?!…".contains(last) { faults.append("has no mark at its end") }
    for cure in cures {
      if let range = text.range(of: " " + cure), !".?!".contains(text[..<range.lowerBound].last ?? " ") {
        faults.append("runs into the next sentence")
      }
    }
    if text.isEmpty { faults.append("is empty") }
    return faults
  }

  /// The mistakes anywhere in a text.
  static func faults(within text: String) -> [String] {
    let patterns = [
      #"\.\."#: "a full stop twice", #"\.[:,;)]"#: "a full stop before another mark", "  ": "two blanks",
      // IPv6 addresses begin with two colons.
      " (?!::)[.,;:]": "a blank before a mark",
      #"\b[Aa] (Edm\.)?[AEIO]"#: "'a' where 'an' belongs", #"\bis not a \w+ but [A-Z]"#: "a sentence inside another",
      "(Optional|Error)\\(": "a description for developers", " in folder Check": "runs into the next sentence",
    ]
    return patterns.filter { pattern, _ in (try? Regex(pattern)).map { text.contains($0) } ?? true }.map(\.value)
      .sorted()
  }
}
