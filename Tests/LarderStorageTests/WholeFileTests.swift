import Foundation
import LarderStorage
import LarderTestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite("Files that are replaced as a whole, and links in their place", .timeLimit(.minutes(2)))
struct WholeFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ text: String, to path: String, isPrivate: Bool = false) throws {
    let file = try WholeFile.create(path, isPrivate: isPrivate)
    try file.write(Array(text.utf8))
    try file.finish()
  }

  private func text(_ name: String) throws -> String { try String(contentsOfFile: folder.file(name), encoding: .utf8) }

  private func mode(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: folder.file(name))[.posixPermissions] as? Int
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: folder.file(name), withDestinationPath: folder.file(target))
  }

  @Test(
    "A replaced file keeps its permissions; a private one is accessible to its owner only",
    arguments: [0o600, 0o644, 0o640, 0o444])
  func permissions(before: Int) throws {
    let path = try folder.write([1], to: "a")
    try FileManager.default.setAttributes([.posixPermissions: before], ofItemAtPath: path)
    let former = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
    try write("new", to: path)
    #expect(try mode("a") == before && text("a") == "new")
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int != former)
    try write("newer", to: path, isPrivate: true)
    #expect(try mode("a") == before & 0o700)
    try write("secret", to: folder.file("b"), isPrivate: true)
    #expect(try mode("b") == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["a", "b"])
  }

  @Test("Root restores the owner of a file")
  func owner() throws {
    guard geteuid() == 0 else { return print("only root can give files away") }
    let path = try folder.write([1], to: "a")
    try #require(chown(path, 65_533, 65_532) == 0)
    try write("new", to: path)
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.ownerAccountID] as? Int == 65_533 && attributes[.groupOwnerAccountID] as? Int == 65_532)
  }

  @Test(
    "A link stays a link and its target is written, even if that does not exist yet; devices and pipes stay"
  )
  func through() throws {
    _ = try folder.write([1], to: "target")
    try link("link", to: "target")
    try link("dangling", to: "made")
    try write("a", to: folder.file("link"))
    try write("b", to: folder.file("dangling"))
    #expect(try text("target") == "a" && text("made") == "b")
    for name in ["link", "dangling"] {
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file(name)).isEmpty == false)
    }
    try #require(mkfifo(folder.file("pipe"), 0o600) == 0)
    let reader = open(folder.file("pipe"), O_RDWR | O_NONBLOCK)
    defer { close(reader) }
    try write("through", to: folder.file("pipe"))
    var bytes = [UInt8](repeating: 0, count: 20)
    #expect(read(reader, &bytes, 20) == 7)
    try write("gone", to: "/dev/null")
    var status = stat()
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    #expect(throws: WholeFile.Failure.self) { try write("x", to: folder.path) }
  }

  @Test("Links under names that could be guessed are not changed, and no partial file is left")
  func planted() throws {
    _ = try folder.write(Array("victim".utf8), to: "victim")
    try link("a.\(getpid()).part", to: "victim")
    try write("new", to: folder.file("a"))
    #expect(try text("victim") == "victim" && text("a") == "new")
    do {
      let file = try WholeFile.create(folder.file("half"))
      try file.write([1])
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 3)
  }

  #if os(Linux)
    @Test("A file that is being written has no name: nothing remains if the process is killed")
    func nameless() throws {
      for isThere in [false, true] {
        let file = try WholeFile.create(folder.file("a"), isPrivate: true)
        try file.write(Array("secret".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == (isThere ? ["a"] : []))
        try file.finish()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
        #expect(try text("a") == "secret" && mode("a") == 0o600)
      }
    }
  #endif

  @Test("Parts that killed processes have left are removed; those of running processes, and other files, stay")
  func abandoned() throws {
    for name in ["a.1.part", "a.4294967295.part", "a.7.part", "a.x.part", "a.part", "b.1.part", "a.1.part2", "a"] {
      _ = try folder.write([1], to: name)
    }
    try link("a.2.part", to: "a")
    let writer = open(folder.file("a.7.part"), O_RDWR)
    defer { close(writer) }
    try #require(flock(writer, LOCK_EX | LOCK_NB) == 0)
    WholeFile.removeAbandoned(beside: folder.file("a"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        == ["a", "a.1.part2", "a.2.part", "a.7.part", "a.part", "a.x.part", "b.1.part"])
  }

  @Test(
    "A lock file and a change counter do not follow links or accept pipes; link targets are not changed")
  func locks() async throws {
    _ = try folder.write(Array("victim".utf8), to: "victim")
    try link("linked", to: "victim")
    try link("dangling", to: "none")
    try #require(mkfifo(folder.file("pipe"), 0o600) == 0)
    for name in ["linked", "dangling", "pipe"] {
      let path = folder.file(name)
      for isShared in [false, true] {
        let locked = await storageError { _ = try FileLock(path, isShared: isShared) }
        #expect(locked?.category == .cannotOpen, "\(name): \(locked.debugDescription)")
      }
      let counted = await storageError { _ = try SharedCounter(path) }
      #expect(counted?.category == .cannotOpen, "\(name): \(counted.debugDescription)")
      #expect(await storageError { _ = try SharedCounter(reading: path) }?.category == .cannotOpen)
      if name != "pipe" { #expect("\(locked(path))".contains("symbolic link")) }
    }
    #expect(try text("victim") == "victim")
    #expect(!FileManager.default.fileExists(atPath: folder.file("none")))
  }

  private func locked(_ path: String) -> String {
    do { _ = try FileLock(path) } catch { return "\(error)" }
    return ""
  }
}
