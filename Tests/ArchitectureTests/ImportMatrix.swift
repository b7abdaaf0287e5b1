/// Which target may import which: read from the `import` lines, because the compiler also finds modules that a target
/// reaches through others.
enum ImportMatrix {
  struct Row: Sendable {
    /// The project's own targets, exactly those of `Package.swift`.
    let targets: Set<String>
    /// Modules of the system and the toolchain.
    let system: Set<String>
  }

  private static let threads: Set = ["Synchronization", "Dispatch"]
  private static let libc: Set = ["Glibc", "Musl", "Darwin"]

  /// `FoundationEssentials` is open to all; all of Foundation only where it is named here.
  static let rows: [String: Row] = [
    // Only the C library has thread-local values.
    "LarderCore": Row(targets: [], system: libc.union(["Synchronization"])),
    "LarderHTTP": Row(targets: ["LarderCore"], system: ["Synchronization"]),
    // Only the C library reports the size of a thread's stack.
    "LarderOData": Row(targets: ["LarderHTTP", "LarderCore"], system: libc.union(["Synchronization"])),
    "LarderODataXML": Row(targets: ["LarderOData", "LarderCore", "CLarderXML2"], system: threads.union(libc)),
    "LarderCurl": Row(
      targets: ["LarderHTTP", "LarderCore", "CLarderCurl", "CLarderZlib"], system: threads.union(libc)),
    "LarderURLSession": Row(
      targets: ["LarderHTTP", "LarderCore"], system: threads.union(["Foundation", "FoundationNetworking"])),
    "LarderStorage": Row(
      targets: ["LarderCore", "CLarderSQLite", "CLarderCrypto"],
      system: threads.union(libc).union(["CryptoKit", "CommonCrypto"])),
    "LarderService": Row(
      targets: ["LarderOData", "LarderODataXML", "LarderHTTP", "LarderCore"], system: threads),
    "LarderOnline": Row(
      targets: ["LarderService", "LarderOData", "LarderODataXML", "LarderHTTP", "LarderCore", "LarderStorage"],
      system: threads
    ),
    "LarderOffline": Row(
      targets: ["LarderService", "LarderOData", "LarderODataXML", "LarderHTTP", "LarderCore", "LarderStorage"],
      system: threads.union(libc).union(["Observation"])),
    "LarderGenerator": Row(targets: ["LarderOData"], system: []),
    "LarderGeneratorTool": Row(targets: ["LarderGenerator", "LarderOData", "LarderODataXML"], system: libc),
    "LarderContent": Row(
      targets: ["LarderHTTP", "LarderCore", "LarderStorage"], system: threads.union(libc)),
    "LarderObjects": Row(targets: ["LarderCore", "LarderStorage"], system: threads),
    "Larder": Row(
      targets: [
        "LarderOnline", "LarderOffline", "LarderContent", "LarderObjects", "LarderCurl", "LarderURLSession",
      ], system: []),
    "LarderTesting": Row(
      targets: [
        "LarderOnline", "LarderOffline", "LarderContent", "LarderObjects", "LarderService", "LarderOData",
        "LarderODataXML", "LarderHTTP", "LarderCore", "LarderStorage",
      ], system: ["Synchronization"]),
    "LarderServer": Row(
      targets: ["LarderContent", "LarderHTTP", "LarderCore", "CLarderMicroHTTPD"], system: threads.union(libc)),
    "LarderCommands": Row(
      targets: [
        "LarderOnline", "LarderOffline", "LarderService", "LarderOData", "LarderODataXML", "LarderHTTP", "LarderCore",
        "LarderCurl",
        "LarderContent", "LarderObjects", "LarderStorage", "LarderGenerator", "LarderServer",
      ],
      system: threads.union(libc)),
    "LarderTool": Row(targets: ["LarderCommands"], system: libc.union(["Dispatch"])),
  ]

  /// The system libraries and the only target that may import each.
  static let importers = [
    "CLarderSQLite": "LarderStorage", "CLarderCrypto": "LarderStorage", "CLarderXML2": "LarderODataXML",
    "CLarderCurl": "LarderCurl",
    "CLarderZlib": "LarderCurl",
    "CLarderMicroHTTPD": "LarderServer",
  ]

  /// The stores: none knows another.
  static let stores: Set = ["LarderOnline", "LarderOffline", "LarderContent", "LarderObjects"]

  /// What is wrong with the imports of one file.
  static func violations(in file: SourceFile) -> [String] {
    guard let target = file.target else { return ["\(file.path): outside of any target"] }
    guard let row = rows[target] else { return ["\(file.path): the target \(target) has no row in the import matrix"] }
    var violations: [String] = []
    for line in imports(in: file) {
      let place = "\(file.path):\(line.number): import \(line.module)"
      if let only = importers[line.module], only != target {
        violations.append("\(place): only \(only) may import it")
      } else if stores.contains(line.module), stores.contains(target) {
        violations.append("\(place): stores must not import each other; move shared code to a lower target")
      } else if line.module == "FoundationEssentials" || row.targets.union(row.system).contains(line.module) {
        continue
      } else if line.module == "Foundation" {
        if !line.isFallback {
          violations.append("\(place): import FoundationEssentials, with Foundation only in the #else of canImport")
        }
      } else {
        violations.append("\(place): not in \(target)'s row of the import matrix")
      }
    }
    return violations
  }

  /// One `import`; `isFallback` if it is in the `#else` of `#if canImport(FoundationEssentials)`.
  struct Import: Equatable {
    let number: Int
    let module: String
    let isFallback: Bool
  }

  static func imports(in file: SourceFile) -> [Import] {
    let accessLevels: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
    var conditions: [(text: Substring, isElse: Bool)] = []
    var imports: [Import] = []
    for (index, line) in file.codeLines.enumerated() {
      let words = line.split(separator: " ")
      switch words.first {
      case "#if": conditions.append((line, false))
      case "#else": if let last = conditions.indices.last { conditions[last].isElse = true }
      case "#endif": _ = conditions.popLast()
      default:
        let rest = words.drop { $0.hasPrefix("@") || accessLevels.contains($0) }
        guard rest.first == "import", let module = rest.dropFirst().drop(while: kinds.contains).first else { continue }
        let fallback = conditions.last.map { $0.isElse && $0.text.contains("canImport(FoundationEssentials)") }
        imports.append(
          Import(
            number: index + 1, module: String(module.split(separator: ".").first ?? module),
            isFallback: fallback ?? false))
      }
    }
    return imports
  }

  /// The targets of a manifest and the names each depends on, test targets left out.
  static func dependencies(manifest: String) -> [String: Set<String>] {
    var dependencies: [String: Set<String>] = [:]
    for kind in [".target(", ".executableTarget("] {
      for piece in manifest.components(separatedAt: "\n    " + kind) {
        var depth = 1
        let body = piece.prefix { character in
          if character == "(" { depth += 1 }
          if character == ")" { depth -= 1 }
          return depth > 0
        }
        let quoted = body.split(separator: "\"", omittingEmptySubsequences: false)
        guard quoted.count > 1 else { continue }
        guard let start = body.components(separatedAt: "dependencies: [").first else {
          dependencies[String(quoted[1])] = []
          continue
        }
        var brackets = 1
        let list = start.prefix { character in
          if character == "[" { brackets += 1 }
          if character == "]" { brackets -= 1 }
          return brackets > 0
        }
        let names = list.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
        dependencies[String(quoted[1])] = Set(names.filter { $0.offset % 2 == 1 }.map { String($0.element) })
      }
    }
    return dependencies
  }
}

extension StringProtocol {
  /// The text after each occurrence of a separator.
  fileprivate func components(separatedAt text: String) -> [Substring] {
    var parts: [Substring] = []
    var rest = Substring(self)
    while let range = rest.firstRange(of: text) {
      rest = rest[range.upperBound...]
      parts.append(rest)
    }
    return parts
  }
}
