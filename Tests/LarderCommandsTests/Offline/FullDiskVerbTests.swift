import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("Verbs on a full disk or in a read-only folder", .timeLimit(.minutes(5)))
struct FullDiskVerbTests {
  private let things = Things()

  @Test(
    "on a full disk, a clone and an object store can be read; writing reports the full disk and loses nothing"
  )
  func full() async throws {
    guard let disk = try SmallDisk(bytes: 2 << 20) else { return print("no disk can be mounted here") }
    let server = try things.serve()
    defer { server.stop() }
    let rig = Rig(input: Array("value".utf8), directory: disk.path)
    #expect(await rig.run("clone", server.text("/s/"), "c", "--query", "things=Things").status == .done)
    #expect(await rig.run("object", "put", "--store", "o", "k").status == .done)
    #expect(await rig.run("get", "--cache", "tc", server.text("/s/Things")).status == .done)
    let inside = Rig(directory: disk.path + "/c")
    #expect(await inside.run("update", "Things(1)", #"{"Name":"mine"}"#).status == .done)
    try disk.fill()
    let reads: [(Rig, [String], String)] = [
      (inside, ["query", "Things/$count"], "6"), (inside, ["query", "Things(1)/Name/$value"], "mine"),
      (inside, ["query", "Things", "--format", "csv"], "6,f"), (inside, ["status"], "1 pending"),
      (inside, ["log"], "Query"),
      (inside, ["upload", "--plan"], "PATCH"), (rig, ["object", "get", "--store", "o", "k"], "value"),
      (rig, ["object", "list", "--store", "o"], "k"), (rig, ["cache", "list", "--cache", "tc"], "Things"),
      (rig, ["get", "--cache", "tc", "--passive", server.text("/s/Things")], "value"),
      (rig, ["get", "--cache", "tc", server.text("/s/Things")], "value"),
    ]
    for (rig, line, expected) in reads {
      let outcome = await rig.run(line)
      #expect(outcome.status == .done && outcome.output.contains(expected), "\(line): \(outcome.diagnostics)")
    }
    let writes: [(Rig, [String])] = [
      (inside, ["undo", "Things(1)"]), (inside, ["delete", "Things(2)"]), (inside, ["download"]), (inside, ["upload"]),
      (inside, ["download", "--remove", "things"]), (rig, ["object", "remove", "--store", "o", "k"]),
      (rig, ["object", "put", "--store", "o", "k2"]), (rig, ["object", "put", "--store", "new", "k"]),
      (rig, ["clone", server.text("/s/"), "d", "--query", "things=Things"]),
    ]
    for (rig, line) in writes {
      let outcome = await rig.run(line)
      #expect(outcome.status == .storage, "\(line): \(outcome.output)")
      #expect(
        outcome.diagnostics.lowercased().contains("disk is full") || outcome.diagnostics.contains("disk was full"),
        "\(line): \(outcome.diagnostics)")
    }
    try FileManager.default.removeItem(atPath: disk.path + "/filling")
    #expect(await inside.run("undo", "Things(1)").status == .done)
    #expect(await inside.run("query", "Things(1)/Name/$value").output == "a")
    #expect(await rig.run("object", "get", "--store", "o", "k").output == "value")
  }

  @Test("a value is stored even if closing the store finds no space; then it can be read")
  func closing() async throws {
    guard let disk = try SmallDisk(bytes: 300 << 10) else { return print("no disk can be mounted here") }
    let rig = Rig(input: [UInt8](repeating: 7, count: 5000), directory: disk.path)
    var stored: [String] = []
    var isWarned = false
    for number in 0..<200 {
      let put = await rig.run("object", "put", "--store", "o", "k\(number)")
      if put.status == .done { stored.append("k\(number)") }
      isWarned = isWarned || put.diagnostics.contains("not closed properly")
      if put.status != .done { break }
    }
    #expect(stored.count > 3)
    let listed = await rig.run("object", "list", "--store", "o", "--json")
    #expect(listed.status == .done, "\(listed.diagnostics)")
    let items = try JSONNode(listed.outputBytes).items ?? []
    let keys = Set(items.compactMap { $0["key"]?.string })
    #expect(keys.isSuperset(of: stored))
    print("closing found no room: \(isWarned)")
  }

  @Test("a clone in a read-only folder can be read, by its owner and by others with permission")
  func permissions() async throws {
    let server = try things.serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let setup = """
      cp "$larder" '\(folder.file("larder"))'; chmod 755 '\(folder.path)'; mkdir -m 777 '\(folder.file("w"))'; cd '\(folder.file("w"))'
      as() { if [ "$(id -u)" = 0 ]; then setpriv --reuid $1 --regid $1 --clear-groups "${@:2}"; else "${@:2}"; fi; }
      as 65534 ../larder clone '\(server.text("/s/"))' c --query things=Things > /dev/null
      stat -c '%a %n' c c/larder.json c/store.larder
      chmod 555 c; as 65534 ../larder -C c query 'Things/$count'; echo " $?"; as 65534 ../larder -C c update 'Things(1)' '{"Name":"n"}' 2>&1; echo " $?"
      chmod 444 c/*; as 65533 ../larder -C c query 'Things/$count'; echo " $?"; as 65533 ../larder -C c status > /dev/null; echo " $?"
      chmod 755 c
      """
    let ending = try await Binary.shell(setup)
    let lines = ending.text.split(separator: "\n").map(String.init)
    #expect(
      lines.prefix(4) == ["700 c", "600 c/larder.json", "600 c/store.larder", "6 0"],
      "\(ending.text) \(ending.diagnostics)")
    #expect(
      lines.contains { $0.contains("is read-only") } && lines.suffix(3) == [" 4", "6 0", " 0"],
      "\(ending.text) \(ending.diagnostics)")
  }
}
