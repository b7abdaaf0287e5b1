/// Time, random numbers, tasks and threads that do not come from `LarderEnvironment`.
enum AmbientState {
  /// A place in a file that uses one.
  struct Use: Hashable {
    let path: String
    let line: Int
    let name: String

    var description: String { "\(path):\(line): \(name): take it from LarderEnvironment" }
  }

  /// An exception: these names may occur in a file.
  struct Exception {
    let names: Set<String>
    let reason: String

    init(_ names: String..., reason: String) { (self.names, self.reason) = (Set(names), reason) }
  }

  /// They work with sockets and terminals, whose time is the machine's, and `LarderCore` provides the environment.
  private static let shells: Set = [
    "LarderCore", "LarderCurl", "LarderURLSession", "LarderServer", "LarderCommands", "LarderTool",
  ]

  /// The files that use the machine's own, with the reason.
  static let exceptions: [String: Exception] = [
    "Sources/LarderContent/Cache/File/CacheFolder.swift": Exception(
      "nanosleep(", reason: "waits for a lock of another process"),
    "Sources/LarderContent/Cache/File/FileCache.swift": Exception(
      "DispatchQueue(", reason: "deletes files one after the other, and a test can wait until it has"),
    "Sources/LarderContent/Cache/Tiered/ChangeMark.swift": Exception(
      "clock_gettime", reason: "checks once a second whether its file has been replaced"),
    "Sources/LarderOData/Language/Binding/Binding+functions.swift": Exception(now, reason: odataNow),
    "Sources/LarderOData/Language/Building/ODataOperand+Functions.swift": Exception(now, reason: odataNow),
    "Sources/LarderOData/Language/Parsing/GrammarRules+Methods.swift": Exception(now, reason: odataNow),
    "Sources/LarderOData/Language/Syntax/ODataCanonicalFunction.swift": Exception(now, reason: odataNow),
    "Sources/LarderOffline/Query/Functions/ExpressionWriter+functions.swift": Exception(now, reason: odataNow),
    "Sources/LarderService/Store/Blocking.swift": Exception(
      task, reason: "blocks the caller's thread until a task has ended"),
    "Sources/LarderStorage/Connection/ReaderPool.swift": Exception(
      "DispatchQueue(", now, reason: "the threads of SQLite: each call waits for its result, or does not wait at all"),
    "Sources/LarderStorage/Database/Database.swift": Exception(
      "DispatchQueue(", reason: "the threads of SQLite: each call waits for its result"),
    "Sources/LarderStorage/Database/LogMover.swift": Exception(
      "DispatchQueue(", reason: "a thread of SQLite: moves the log's pages between the calls"),
    "Sources/LarderStorage/Digest/Digest.swift": Exception(
      "SystemRandomNumberGenerator", reason: "keys and nonces come only from the system"),
    "Sources/LarderStorage/File/Lock/SharedCounter.swift": Exception(
      "usleep(", reason: "waits for a lock of another process"),
    "Sources/LarderStorage/File/WholeFile.swift": Exception(
      ".random(in:", reason: "gives a file a name that cannot be guessed"),
  ]

  private static let odataNow = "the function now() of OData"

  /// Names that are never right.
  private static let words = [
    "Date.now", "Date()", "Date.init()", "timeIntervalSinceNow", "ContinuousClock", "SuspendingClock",
    "DispatchTime", "clock_gettime", "gettimeofday", "mach_absolute_time", "systemUptime", "CFAbsoluteTimeGetCurrent",
    "SystemRandomNumberGenerator", ".randomElement()", ".shuffled()", ".shuffle()", "Bool.random()", "UUID()",
    "UUID.init()",
    "arc4random", "getrandom(", "SecRandomCopyBytes", "Task.sleep", "usleep(", "nanosleep(", "asyncAfter(",
    "Thread.sleep", "Thread(", "Thread {", "Thread.detach", "DetachedThread", "pthread_create", "DispatchQueue(",
    "DispatchQueue.global", "DispatchQueue.main", "OperationQueue(", "Timer(", "Timer.schedule",
  ]
  /// Functions of C that are never right. Methods may have their names.
  private static let functions = ["time(nil)", "time(&", "rand()", "srand(", "drand48()", "lrand48()", "srand48("]
  static let task = "a task"
  private static let now = "the implicit .now"
  private static let random = ".random(in:"

  /// The uses in a file, without those of its exception.
  static func violations(in file: SourceFile) -> [Use] {
    let excepted = exceptions[file.path]?.names ?? []
    return uses(in: file).filter { !excepted.contains($0.name) }
  }

  static func uses(in file: SourceFile) -> [Use] {
    guard let target = file.target, !shells.contains(target) else { return [] }
    return usesInCode(file) + unseededRandom(file) + usesInSQL(file)
  }

  private static func usesInCode(_ file: SourceFile) -> [Use] {
    let words = file.occurring(words + functions)
    let mayStart = !file.occurring(["Task"]).isEmpty
    let mayRead = !file.occurring([".now"]).isEmpty
    guard !words.isEmpty || mayStart || mayRead else { return [] }
    let code = SwiftText(file.text, keepsInterpolations: true).code
    return code.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
      var names = words.filter { word in
        line.ranges(of: word).contains { range in
          guard range.lowerBound > line.startIndex, let first = word.first, first.isLetter else { return true }
          let before = line[line.index(before: range.lowerBound)]
          return !(before.isLetter || before.isNumber || before == "_" || before == "." && functions.contains(word))
        }
      }
      if mayStart, startsTask(line) { names.append(task) }
      if mayRead, line.contains(/(^|[^\w)\]?!.])\.now\b/) { names.append(now) }
      return names.map { Use(path: file.path, line: index + 1, name: $0) }
    }
  }

  /// Whether a line creates a task, and does not only name its type.
  private static func startsTask(_ line: Substring) -> Bool {
    line.contains(/\bTask\s*[({]/) || line.contains(/\bTask(<.*>)?\.(detached|immediate|immediateDetached|init)\b/)
      || line.contains(/([=(,{?]|\b(return|in|await|try)|^)\s*Task<.*>\s*[({]/)
  }

  /// Calls of `random(in:)` that do not pass a generator.
  private static func unseededRandom(_ file: SourceFile) -> [Use] {
    guard !file.occurring([random]).isEmpty else { return [] }
    let code = SwiftText(file.text, keepsInterpolations: true).code
    return code.ranges(of: random).compactMap { range in
      var depth = 1
      let arguments = code[range.upperBound...].prefix { character in
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
        return depth > 0
      }
      if arguments.contains("using:") { return nil }
      return Use(path: file.path, line: code[..<range.lowerBound].count { $0 == "\n" } + 1, name: random)
    }
  }

  /// The clock and the random numbers of SQLite, in string literals.
  private static func usesInSQL(_ file: SourceFile) -> [Use] {
    func lines(_ text: SwiftText) -> [Substring] { text.code.split(separator: "\n", omittingEmptySubsequences: false) }
    let uses = zip(lines(SwiftText(file.text, keepsStrings: true)), file.codeLines).enumerated().flatMap {
      index, pair in
      // Most lines have no strings.
      pair.0 == pair.1 ? [] : namesInSQL(pair.0).map { Use(path: file.path, line: index + 1, name: $0) }
    }
    guard !uses.isEmpty else { return [] }
    // `environment.random()` in an interpolation is a call of Swift.
    let code = lines(SwiftText(file.text, keepsInterpolations: true))
    var calls: [Int: [String]] = [:]
    return uses.filter { use in
      var others = calls[use.line] ?? namesInSQL(code[use.line - 1])
      defer { calls[use.line] = others }
      guard let call = others.firstIndex(of: use.name) else { return true }
      others.remove(at: call)
      return false
    }
  }

  /// What reads the clock or draws random numbers: functions of SQL without the arguments that name another time, and
  /// words.
  private static func namesInSQL(_ line: Substring) -> [String] {
    let names =
      #/
      (?:^|\W)
      (
        (?:date|time|datetime|julianday|unixepoch|random)\s*\(\s*\)
        | strftime\s*\(\s*(?:'[^']*'|[^'(),]*)\s*\)
        | randomblob\s*\( | current_(?:date|time) | 'now'
      )
      /#
    return line.lowercased().matches(of: names).map { String($0.1) }
  }
}
