import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CrashRig

@Suite("Objects: several stores and processes on one file", .timeLimit(.minutes(3)))
struct ObjectSharingTests {
  /// Another process opens the file, counts the values and closes.
  private func expectCount(_ count: Int, _ rig: ObjectRig) async throws {
    let said = try await ObjectProcess.lines(.look, rig.path, 0)
    #expect(said == ["holds \(count)"])
  }

  @Test("What two stores of a process put is there after another process has opened and closed the file")
  func twoStoresAndAProcess() async throws {
    let rig = try ObjectRig()
    let first = try await rig.open()
    let second = try await rig.open()
    try await first.put(1, forKey: "before")
    try await expectCount(1, rig)
    for number in 0..<20 { try await first.put(number, forKey: "first \(number)") }
    try await second.put(2, forKey: "second")
    try await expectCount(22, rig)
    #expect(try await second.count() == 22)
    try await first.close()
    try await expectCount(22, rig)
    try await second.put(3, forKey: "alone")
    try await expectCount(23, rig)
    try await second.close()
    try await expectCount(23, rig)
  }

  @Test("Stores that open a new file at the same moment all have it, and none loses what another put")
  func firstOpening() async throws {
    for _ in 0..<5 {
      let rig = try ObjectRig()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
          group.addTask { @concurrent in
            let store = try await rig.open()
            try await store.put(number, forKey: "value \(number)")
            try await store.close()
          }
        }
        try await group.waitForAll()
      }
      let values = try await rig.with { store in
        try await store.checkIntegrity()
        return try await store.values(Int.self)
      }
      #expect(values == Array(0..<8))
    }
  }

  @Test("Processes that open a new file at the same moment all have it, and no count is lost")
  func firstOpeningOfProcesses() async throws {
    let rig = try ObjectRig()
    let said = try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<4 { group.addTask { try await ObjectProcess.lines(.count, rig.path, 10) } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(said.count == 40)
    #expect(Set(said).count == 40)
    let count = try await rig.with { store in try await store.value(Int.self, forKey: "count") }
    #expect(count == 40)
  }
}
