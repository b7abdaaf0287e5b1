/// What a source file must not do, or not without a reason.
enum Traps {
  /// Ends of the process that bad input could reach.
  static func violations(in file: SourceFile) -> [String] {
    let words = file.occurring(["try!", "as!", "fatalError(", "preconditionFailure(", "unsafelyUnwrapped"])
    var violations: [String] = []
    for (index, line) in file.codeLines.enumerated() {
      for word in words where line.contains(word) {
        violations.append("\(file.path):\(index + 1): \(word)")
      }
      if unwraps(line), !line.contains("try!"), !line.contains("as!") {
        violations.append("\(file.path):\(index + 1): a forced unwrapping, which may trap: \(line.drop { $0 == " " })")
      }
    }
    return violations
  }

  /// Locks other than `Locked`, outside of the target that provides it.
  static func rawLocks(in file: SourceFile) -> [String] {
    if file.target == "LarderCore" { return [] }
    let locks = [
      "Mutex<", "Mutex(", "NSLock", "NSRecursiveLock", "NSCondition", "os_unfair_lock", "OSAllocatedUnfairLock",
      "pthread_mutex", "pthread_rwlock", "pthread_spin",
    ]
    let occurring = file.occurring(locks)
    guard !occurring.isEmpty else { return [] }
    return file.codeLines.enumerated().flatMap { index, line in
      occurring.filter { line.contains($0) }.map {
        "\(file.path):\(index + 1): \($0): use Locked of the target LarderCore"
      }
    }
  }

  /// Waits by the clock in tests: a test waits for what it expects, never for a time.
  static func sleeps(in file: SourceFile) -> [String] {
    guard sleepingFiles[file.path] == nil else { return [] }
    let words = file.occurring(["Task.sleep", "usleep(", "nanosleep(", "Thread.sleep"])
    guard !words.isEmpty else { return [] }
    return file.codeLines.enumerated().flatMap { index, line in
      words.filter(line.contains).map {
        "\(file.path):\(index + 1): \($0): wait for an event, not for a time"
      }
    }
  }

  /// The test files that may wait by the clock, with the reason.
  static let sleepingFiles = [
    "Tests/LarderContentTests/File/CacheCrashTests.swift": "kills a process at a random time",
    "Tests/LarderCrashRig/UserCrashRig.swift": "waits to be killed",
    "Tests/LarderOfflineTests/Crash/StoreKillTests.swift": "kills a process at a random time",
    "Tests/LarderOfflineTests/Crash/UploadKillTests.swift": "kills a process at a random time",
    "Tests/LarderOfflineTests/Encryption/StoreMarkerTests.swift": "stops a process at a random time",
    "Tests/LarderOfflineTests/User/UserKillTests.swift": "kills a process at a random time",
    "Tests/LarderOnlineTests/CrashTests.swift": "kills a process at a random time",
    "Tests/LarderStorageTests/Encryption/CrashTests.swift": "kills a process at a random time",
    "Tests/LarderTestSupport/MarkerSearch.swift": "stops a process at a random time",
    "Tests/LarderHistoryRig/History/StoreHand.swift": "the environment's sleep",
    "Tests/LarderTestSupport/TestEnvironment.swift": "the environment's sleep",
    "Tests/LarderTestSupport/ScriptedServer+Gate.swift": "the limit of a wait, cancelled if the event comes",
    "Tests/TransportTests/LoadTests.swift": "cancels transfers at random times",
    "Tests/TransportTests/Nginx.swift": "another process is ready when its file exists",
    "Tests/ThreadSanitizer/Rig.swift": "programs of the sanitizer's own test",
  ]

  /// True if a `!` follows a name or a closing bracket, and is not the first half of `!=`.
  private static func unwraps(_ line: Substring) -> Bool {
    func isName(_ byte: UInt8) -> Bool {
      byte == 0x5f || (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte & 0xdf) || byte >= 0x80
    }
    guard line.utf8.contains(UInt8(ascii: "!")) else { return false }
    let bytes = Array(line.utf8)
    return bytes.indices.contains { index in
      guard bytes[index] == UInt8(ascii: "!"), index > 0 else { return false }
      let before = bytes[index - 1]
      let after = index + 1 < bytes.count ? bytes[index + 1] : 0x20
      return (isName(before) || before == UInt8(ascii: ")") || before == UInt8(ascii: "]"))
        && after != UInt8(ascii: "=") && !isName(after)
    }
  }

  /// Claims to the compiler that lack a comment right above them (or behind, on the line).
  static func unreasoned(in file: SourceFile) -> [String] {
    let claims = file.occurring(["@unchecked Sendable", "nonisolated(unsafe)", "@preconcurrency"])
    guard !claims.isEmpty else { return [] }
    let lines = file.lines
    var violations: [String] = []
    for (index, code) in file.codeLines.enumerated() {
      for claim in claims where code.contains(claim) {
        if code.contains("@preconcurrency"), !code.contains("import") { continue }
        let above = lines[..<index].last { !$0.drop { $0 == " " }.hasPrefix("@") }
        let reasoned = above.map { $0.drop { $0 == " " }.hasPrefix("//") } ?? false
        if !reasoned, !lines[index].contains("// ") {
          violations.append("\(file.path):\(index + 1): \(claim) needs a comment above it with the reason")
        }
      }
    }
    return violations
  }

  /// Suites that could hang.
  static func unlimitedSuites(in file: SourceFile) -> [String] {
    let code = file.code
    return code.ranges(of: "@Suite").compactMap { range in
      var depth = 0
      let rest = code[range.upperBound...]
      let arguments = rest.prefix { character in
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
        return depth > 0
      }
      if arguments.contains(".timeLimit(") { return nil }
      let line = code[..<range.lowerBound].count { $0 == "\n" } + 1
      return "\(file.path):\(line): a suite without .timeLimit"
    }
  }
}
