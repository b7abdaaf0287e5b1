/// How long files and functions may be, and how many parameters may have no label: a reader holds one at a time.
enum Budgets {
  static let sourceLines = 600
  static let testLines = 900
  static let functionLines = 80
  static let unlabelledParameters = 3

  /// Files with functions that C calls: it knows no labels.
  static let callbacks = [
    "Sources/LarderCurl/Callbacks.swift", "Sources/LarderODataXML/XML/XMLPushParser.swift",
    "Sources/LarderServer/Server/ServerCallbacks.swift", "Sources/LarderServer/Server/ServerExchange+Rejection.swift",
    "Sources/LarderStorage/Connection/Function/Connection+extensions.swift",
  ]

  static func violations(in file: SourceFile) -> [String] {
    let limit = file.path.hasPrefix("Tests/") ? testLines : sourceLines
    let count = file.lines.count
    var violations = count > limit ? ["\(file.path): \(count) lines, at most \(limit)"] : []
    for function in functions(inCode: file.code) where function.lines > functionLines {
      violations.append(
        "\(file.path):\(function.start): \(function.name): \(function.lines) lines, at most \(functionLines)")
    }
    if file.path.hasPrefix("Sources/"), !callbacks.contains(file.path) {
      for function in functions(inCode: file.code) where function.unlabelled > unlabelledParameters {
        violations.append(
          "\(file.path):\(function.start): \(function.name): \(function.unlabelled) parameters without a label, "
            + "at most \(unlabelledParameters)")
      }
    }
    return violations
  }

  /// A function, initializer, deinitializer or subscript with a body.
  struct Function: Equatable {
    let name: String
    /// The line of its keyword, from 1.
    let start: Int
    /// From the keyword's line to that of the closing brace.
    let lines: Int
    /// The number of parameters without a label.
    var unlabelled = 0
  }

  static func functions(inCode text: String) -> [Function] {
    let code = Array(text.utf8)
    var violations: [Function] = []
    var line = 1
    var place = 0
    while place < code.count {
      if code[place] == 0x0a { line += 1 }
      if let keyword = keyword(in: code, at: place), let end = end(in: code, from: place + keyword.utf8.count) {
        let name = code[(place + keyword.utf8.count)...].drop { $0 == 0x20 }.prefix { isName($0) }
        let lines = code[place...end].count { $0 == 0x0a } + 1
        violations.append(
          Function(
            name: name.isEmpty ? keyword : String(decoding: name, as: UTF8.self), start: line, lines: lines,
            unlabelled: unlabelled(in: code[place...end])))
      }
      place += 1
    }
    return violations
  }

  /// The number of parameters that begin with `_` in the first parentheses of a declaration.
  private static func unlabelled(in declaration: ArraySlice<UInt8>) -> Int {
    var depth = 0
    var isStart = false
    var count = 0
    for (place, byte) in zip(declaration.indices, declaration) {
      switch byte {
      case UInt8(ascii: "{") where depth == 0: return count
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        isStart = depth == 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth -= 1
        if depth == 0 { return count }
      case UInt8(ascii: ","): isStart = depth == 1
      case 0x20, 0x0a: break
      case UInt8(ascii: "_") where isStart && declaration[place...].dropFirst().first == 0x20:
        count += 1
        isStart = false
      default: isStart = false
      }
    }
    return count
  }

  private static func isName(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f
      || byte >= 0x80
  }

  private static func keyword(in code: [UInt8], at place: Int) -> String? {
    switch code[place] {
    case UInt8(ascii: "f"), UInt8(ascii: "i"), UInt8(ascii: "d"), UInt8(ascii: "s"): break
    default: return nil
    }
    if place > 0, isName(code[place - 1]) || code[place - 1] == UInt8(ascii: ".") { return nil }
    for keyword in ["func", "init", "deinit", "subscript"] where code[place...].starts(with: keyword.utf8) {
      let after = place + keyword.utf8.count
      guard after < code.count, !isName(code[after]) else { return nil }
      // Only at the start of a declaration: behind modifiers and attributes, never inside an expression.
      let before = code[..<place].reversed().prefix { $0 != 0x0a }
      return before.allSatisfy { isName($0) || " @()".utf8.contains($0) } ? keyword : nil
    }
    return nil
  }

  /// The place of the body's closing brace; `nil` for a declaration without a body.
  private static func end(in code: [UInt8], from start: Int) -> Int? {
    var place = start
    var parentheses = 0
    while place < code.count {
      switch code[place] {
      case UInt8(ascii: "("), UInt8(ascii: "["): parentheses += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"): parentheses -= 1
      case UInt8(ascii: "{") where parentheses == 0: return closing(in: code, from: place)
      case UInt8(ascii: "}") where parentheses == 0: return nil
      case 0x0a where parentheses == 0:
        let next = code[place...].drop { $0 == 0x0a || $0 == 0x20 }
        let goesOn = ["{", "->", "where", "async", "throws", ":", "=="].contains { next.starts(with: $0.utf8) }
        let whereClause = code[..<place].reversed().drop { $0 == 0x20 }.first == UInt8(ascii: ",")
        if !goesOn && !whereClause { return nil }
      default: break
      }
      place += 1
    }
    return nil
  }

  private static func closing(in code: [UInt8], from start: Int) -> Int? {
    var depth = 0
    for place in start..<code.count {
      if code[place] == UInt8(ascii: "{") { depth += 1 }
      if code[place] == UInt8(ascii: "}") { depth -= 1 }
      if depth == 0 { return place }
    }
    return nil
  }
}
