/// Calls and paths that only Linux has, or that mean something else on Apple platforms, in code that is compiled for both.
enum Portability {
  /// What is looked for, and what is used in its place.
  private static let words = [
    ("/proc/self", "another implementation on Darwin, and `#if os(Linux)`"), ("/proc/sys", "a system call"),
    ("/proc/\\(", "another implementation on Darwin, and `#if os(Linux)`"),
    ("/dev/shm", "the folder for temporary files"),
    ("Task.immediate", "immediately(_:), because it requires macOS 26 or iOS 26"),
    ("fsync(", "FileFlush: fsync on Darwin does not wait for the drive"),
    ("fdatasync(", "FileFlush"), ("epoll_", "poll(2)"), ("eventfd(", "pipe(2)"), ("memfd_create", "a temporary file"),
    ("pipe2(", "pipe(2) and fcntl(2)"), ("accept4(", "accept(2) and fcntl(2)"), ("SOCK_CLOEXEC", "fcntl(2)"),
    ("MSG_NOSIGNAL", "SO_NOSIGPIPE on Darwin"), ("posix_fadvise", "F_RDADVISE on Darwin"),
    ("fallocate(", "ftruncate(2)"),
  ]

  /// Folders that are compiled on Linux alone.
  private static let linuxAlone = [
    "Sources/LarderServer/", "Sources/LarderCommands/Proxy/", "Tests/LarderServerTests/",
  ]

  static func violations(in file: SourceFile) -> [String] {
    guard !linuxAlone.contains(where: file.path.hasPrefix), file.target != "ArchitectureTests" else { return [] }
    let names = Set(file.occurring(words.map(\.0)))
    guard !names.isEmpty else { return [] }
    let words = words.filter { names.contains($0.0) }
    var regions: [Region] = []
    var violations: [String] = []
    for (index, line) in file.lines.enumerated() {
      let text = line.drop { $0 == " " }
      if text.hasPrefix("//") { continue }
      if text.hasPrefix("#if ") {
        regions.append(Region(text))
      } else if text.hasPrefix("#elseif ") {
        regions.append(Region(text, after: regions.popLast()))
      } else if text.hasPrefix("#else") {
        regions.append(Region("", after: regions.popLast()))
      } else if text.hasPrefix("#endif") {
        _ = regions.popLast()
      } else if !regions.contains(where: \.isLinuxAlone) {
        for (word, cure) in words where text.contains(word) && !isDeclared(word, in: file) {
          violations.append("\(file.path):\(index + 1): \(word): \(cure)")
        }
      }
    }
    return violations
  }

  /// Whether the file defines what the others use in place of the word.
  private static func isDeclared(_ word: String, in file: SourceFile) -> Bool {
    word == "fsync(" && file.path.hasSuffix("/FileFlush.swift")
      || word == "Task.immediate" && file.path.hasSuffix("/Immediately.swift")
  }

  /// What lies between two lines of conditional compilation.
  private struct Region {
    let isLinuxAlone: Bool
    /// Whether a condition before was one of Darwin.
    let isAfterDarwin: Bool

    init(_ condition: Substring, after former: Region? = nil) {
      let isDarwin = ["canImport(Darwin)", "os(macOS)"].contains {
        condition.contains($0) && !condition.contains("!" + $0)
      }
      isAfterDarwin = isDarwin || former?.isAfterDarwin ?? false
      isLinuxAlone =
        condition.isEmpty
        ? former?.isAfterDarwin ?? false
        : ["os(Linux)", "canImport(Glibc)", "canImport(Musl)", "!canImport(Darwin)", "!os(macOS)"].contains { name in
          condition.contains(name) && !condition.contains("!" + name)
        }
    }
  }
}
