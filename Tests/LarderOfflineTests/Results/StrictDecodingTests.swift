import Foundation
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Results: decoding follows the declared type", .timeLimit(.minutes(5)))
struct StrictDecodingTests {
  enum Word: String, Decodable, Sendable { case paid = "Paid" }
  enum Number: Int, Decodable, Sendable { case two = 2, seven = 7 }

  private enum Keys: String, CodingKey { case value = "Value", values = "Values", inner = "Inner", inners = "Inners" }

  /// The value as a member, and as a member that may be missing.
  private struct Member<Value: Decodable & Sendable>: Decodable, Sendable {
    enum CodingKeys: String, CodingKey { case value = "Value" }
    var value: Value
  }
  private struct Maybe<Value: Decodable & Sendable>: Decodable, Sendable {
    enum CodingKeys: String, CodingKey { case value = "Value" }
    var value: Value?
  }
  private struct Items<Value: Decodable & Sendable>: Decodable, Sendable {
    enum CodingKeys: String, CodingKey { case values = "Values" }
    var values: [Value]
  }
  private struct Inner<Value: Decodable & Sendable>: Decodable, Sendable {
    enum CodingKeys: String, CodingKey { case inner = "Inner" }
    var inner: Member<Value>
  }
  private struct Inners<Value: Decodable & Sendable>: Decodable, Sendable {
    enum CodingKeys: String, CodingKey { case inners = "Inners" }
    var inners: [Maybe<Value>]
  }
  private struct Open<Value: Decodable & Sendable>: Decodable, Sendable {
    enum CodingKeys: String, CodingKey { case open = "Open" }
    var open: Value
  }

  /// One path to the value, the path that an error names, and the outcome.
  private struct Reading: Sendable {
    let path: String
    let isOfV4: Bool
    let read: @Sendable (OfflineODataProvider, String) async throws -> String
  }

  private struct Wanted: Sendable {
    let name: String
    let readings: [Reading]

    init<Value: Decodable & Sendable>(_ type: Value.Type, _ show: @escaping @Sendable (Value) -> String = { "\($0)" }) {
      name = "\(type)"
      @Sendable func shown(_ value: Value?) -> String { value.map(show) ?? "nothing" }
      readings = [
        Reading(path: "Value", isOfV4: false) { shown(try await $0.read([Member<Value>].self, $1)?.first?.value) },
        Reading(path: "Value", isOfV4: false) { shown(try await $0.read([Maybe<Value>].self, $1)?.first?.value) },
        Reading(path: "Value", isOfV4: false) { shown(try await $0.read(Member<Value>.self, "\($1)(1)")?.value) },
        Reading(path: "Value", isOfV4: false) { shown(try await $0.read(type, "\($1)(1)/Value")) },
        Reading(path: "Inner/Value", isOfV4: false) {
          shown(try await $0.read([Inner<Value>].self, $1)?.first?.inner.value)
        },
        Reading(path: "Values[0]", isOfV4: true) {
          shown(try await $0.read([Items<Value>].self, $1)?.first?.values.first)
        },
        Reading(path: "Values[0]", isOfV4: true) { shown(try await $0.read([Value].self, "\($1)(1)/Values")?.first) },
        Reading(path: "Inners[0]/Value", isOfV4: true) {
          shown(try await $0.read([Inners<Value>].self, $1)?.first?.inners.first?.value)
        },
        Reading(path: "Open", isOfV4: true) { shown(try await $0.read([Open<Value>].self, $1)?.first?.open) },
      ]
    }
  }

  private static let wanted: [Wanted] = [
    Wanted(Int.self), Wanted(Int8.self), Wanted(Int16.self), Wanted(Int32.self), Wanted(Int64.self),
    Wanted(Int128.self),
    Wanted(UInt.self), Wanted(UInt8.self), Wanted(UInt16.self), Wanted(UInt32.self), Wanted(UInt64.self),
    Wanted(UInt128.self), Wanted(Double.self), Wanted(Float.self), Wanted(Decimal.self), Wanted(Bool.self),
    Wanted(String.self), Wanted(Date.self) { "\($0.timeIntervalSince1970)" }, Wanted(Data.self) { "\($0.count) bytes" },
    Wanted(URL.self) { $0.absoluteString }, Wanted(UUID.self), Wanted(Duration.self), Wanted(Word.self),
    Wanted(Number.self), Wanted([Int].self), Wanted(Member<Int>.self),
  ]

  @Test("declared type × Swift type × value, on every path to the value", arguments: [false, true])
  func table(_ isV2: Bool) async throws {
    let service = StrictService(isV2: isV2)
    let (store, rig) = try await service.copied()
    var wrong: [String] = []
    for (number, value, text) in service.rows {
      for wanted in Self.wanted {
        for reading in wanted.readings where !reading.isOfV4 || !isV2 {
          // A value of an undeclared enumeration is stored as the text of its member.
          if reading.path == "Open", value.type == "S.State" { continue }
          let what = "\(value.type) \(text) as \(wanted.name) at \(reading.path)"
          do {
            let outcome = try await reading.read(store, "S\(number)")
            let expected = value.fits[wanted.name]
            if outcome != expected { wrong.append("\(what): \(outcome), not \(expected ?? "an error")") }
          } catch let error as OfflineODataError {
            if value.fits[wanted.name] != nil { wrong.append("\(what): \(error)") }
            // JSON does not show the type of an undeclared text (JSON Format 4.01 §4.6.3).
            let parts = reading.path == "Open" ? ["'Open'"] : ["'\(reading.path)'", value.type]
            let isReported = parts.allSatisfy { error.errorMessage.contains($0) }
            if error.name != .undecodableType || !isReported { wrong.append("\(what): \(error.debugDescription)") }
          } catch { wrong.append("\(what): \(error)") }
        }
      }
    }
    #expect(wrong.prefix(20) == [], "\(wrong.count) in all")
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  /// The error of a read; nil if there is none.
  private func failure<Value: Decodable & Sendable>(
    _ type: Value.Type, _ path: String, _ store: OfflineODataProvider
  ) async -> OfflineODataError? {
    do {
      _ = try await store.read(type, path)
      return nil
    } catch { return error as? OfflineODataError }
  }

  @Test(
    "the message names the property, the declared type, the value's type and the requested type, but never the value")
  func message() async throws {
    let (store, rig) = try await StrictService(isV2: false).copied()
    let error = await failure([Inner<Int>].self, "S0", store)
    #expect(error?.name == .undecodableType && error?.category == .invalidInput)
    let message = error?.errorMessage ?? ""
    for part in ["'Inner/Value'", "Edm.String", "a text", "Int"] { #expect(message.contains(part), "\(message)") }
    #expect(!message.contains("4712") && !message.lowercased().contains("clear"))
    var live = try store.live([Member<Int>].self, "S0").makeAsyncIterator()
    let liveError = await #expect(throws: OfflineODataError.self) { _ = try await live.next() }
    #expect(liveError?.name == .undecodableType)
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("the payloads of responses have the declared types even if no model is given", arguments: [false, true])
  func payloads(_ isV2: Bool) async throws {
    let service = StrictService(isV2: isV2)
    let (store, rig) = try await service.copied()
    let row = try #require(service.rows.first { $0.value.type == "Edm.Decimal" })
    let read = try await store.execute(single: .read("S\(row.number)(1)"))
    let expected = ODataValue.decimal(try #require(ODataDecimal("12.50")))
    #expect(try read.payload().entities?.first?["Value"] == expected)
    let entity = ODataEntity(properties: [ODataProperty("ID", .int32(2)), ODataProperty("Value", expected)])
    let change = try await store.execute(single: .create(entity, in: "S\(row.number)"))
    #expect(try change.payload().entities?.first?["Value"] == expected)
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  /// Types whose decoding fails, or requests members that cannot exist.
  private struct Failing: Decodable, Sendable {
    struct CustomError: Error {}
    init(from decoder: any Decoder) throws { throw CustomError() }
  }
  private struct Unselected: Decodable, Sendable {
    enum CodingKeys: String, CodingKey { case value = "Nothing" }
    var value: Int
  }

  @Test("an error thrown by the type, a missing member, one value instead of several: all are mismatches")
  func others() async throws {
    let (store, rig) = try await StrictService(isV2: false).copied()
    #expect(await failure([Failing].self, "S0", store)?.name == .undecodableType)
    #expect(await failure([Unselected].self, "S0", store)?.name == .undecodableType)
    #expect(await failure(Member<String>.self, "S0", store)?.name == .undecodableType)
    #expect(await failure([Member<String>].self, "S0?$select=ID", store)?.name == .undecodableType)
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  private struct WordOfInner: Decodable, Sendable {
    enum CodingKeys: String, CodingKey { case inner = "Inner" }
    var inner: Word
  }
  private struct NumbersOfInners: Decodable, Sendable {
    enum CodingKeys: String, CodingKey { case inners = "Inners" }
    var inners: [Int]
  }
  private struct TextOfItems: Decodable, Sendable {
    enum CodingKeys: String, CodingKey { case values = "Values" }
    var values: String
  }

  @Test("a scalar requested for an entity, a complex value or a collection")
  func scalarsOfObjects() async throws {
    let (store, rig) = try await StrictService(isV2: false).copied()
    #expect(await failure([TextOfItems].self, "S0", store)?.name == .undecodableType)
    #expect(await failure([NumbersOfInners].self, "S0", store)?.name == .undecodableType)
    #expect(await failure([WordOfInner].self, "S0", store)?.name == .undecodableType)
    #expect(await failure([Int].self, "S0", store)?.name == .undecodableType)
    #expect(await failure(Double.self, "S0(1)", store)?.name == .undecodableType)
    #expect(await failure([Date].self, "S0", store)?.name == .undecodableType)
    try await store.close()
    withExtendedLifetime(rig) {}
  }
}
