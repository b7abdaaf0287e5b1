import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Parts of a batch's response that are missing or out of place", .timeLimit(.minutes(1)))
struct UploadBatchTests {
  /// How the parts of a response are changed before they arrive.
  enum Shape: CaseIterable, Sendable {
    case whole, withoutFirst, withoutSecond, withoutLast, swapped, firstTwice, firstInPlaceOfLast, none

    func parts(_ parts: [String]) -> [String] {
      guard parts.count > 2 else { return parts }
      switch self {
      case .whole: return parts
      case .withoutFirst: return Array(parts.dropFirst())
      case .withoutSecond: return [parts[0]] + parts.dropFirst(2)
      case .withoutLast: return parts.dropLast()
      case .swapped: return [parts[1], parts[0]] + parts.dropFirst(2)
      case .firstTwice: return [parts[0]] + parts
      case .firstInPlaceOfLast: return parts.dropLast() + [parts[0]]
      case .none: return []
      }
    }
  }

  struct Service: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var behavior: UploadService.Behavior
    var identifiesParts: Bool

    static let all = [
      Service(testDescription: "V4", behavior: .init(), identifiesParts: false),
      Service(testDescription: "V4 with Content-IDs", behavior: .init(echoesNames: true), identifiesParts: true),
      Service(testDescription: "V2", behavior: .init(isV2: true), identifiesParts: true),
    ]
  }

  @Test(
    "Each change takes effect once, and the one that failed is in the archive, whatever part is missing",
    arguments: Service.all, Shape.allCases)
  func once(service: Service, shape: Shape) async throws {
    // Nothing distinguishes parts without a name: their order is all there is.
    guard service.identifiesParts || shape != .swapped && shape != .firstInPlaceOfLast else { return }
    var behavior = service.behavior
    behavior.shapesParts = { shape.parts($0) }
    let rig = try await UploadRig(behavior)
    try await rig.create("Orders", key: -1, ["Name": .string("made")])
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("poison")])
    try await rig.update(try await rig.row("Orders", 2), ["Name": .string("x")])
    try await rig.delete(try await rig.row("Orders", 3))
    let report = try await rig.store.upload(OfflineODataUploadOptions(settlingTime: .zero))
    #expect(report.sent == 3 && report.failed == 1 && report.pending == 0, "\(report)")
    let verb = rig.service.isV2 ? "MERGE" : "PATCH"
    #expect(rig.service.log.sorted() == ["DELETE Orders(3)", "POST Orders(1000)", "\(verb) Orders(2)"].sorted())
    #expect(try await rig.queue == ["2|2"])
    let failure = try await rig.rows("SELECT json_extract(failure, '$.httpStatus') FROM larder_request")
    #expect(failure == ["422"])
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} WHERE ID > 1 ORDER BY ID") == ["2|x", "1000|made"])
  }

  @Test("An action whose response is missing is not called again", arguments: [Shape.withoutFirst, .withoutLast])
  func action(shape: Shape) async throws {
    let rig = try await UploadRig(.init(echoesNames: true, shapesParts: { shape.parts($0) }))
    // Whatever it responds: what matters is that it was requested once.
    for place in 0..<3 {
      if place == (shape == .withoutFirst ? 0 : 2) {
        try await rig.record(QueuedRequest(.action, QueuedTarget(nil, "Count")), [])
      } else {
        try await rig.update(try await rig.row("Orders", place == 1 ? 1 : 2), ["Name": .string("poison")])
      }
    }
    let report = try await rig.store.upload(OfflineODataUploadOptions(settlingTime: .zero))
    #expect(report.failed == 3 && report.pending == 0, "\(report)")
    #expect(rig.service.requests.filter { $0.hasPrefix("POST") }.count == 1, "\(rig.service.requests)")
    let kinds = try await rig.rows("SELECT json_extract(failure, '$.kind') FROM larder_request ORDER BY id")
    #expect(kinds.filter { $0 == "unknownOutcome" }.count == 1, "\(kinds)")
  }

  @Test(
    "A change set with an error, another response missing, at a service that rolls nothing back: what was done is done",
    arguments: [false, true], [0, 1])
  func changeSet(isV2: Bool, missing: Int) async throws {
    let shape: @Sendable ([String]) -> [String] = { parts in
      parts.map { part in
        var members = part.components(separatedBy: "--c\r\n")
        if members.count == 4 { members.remove(at: missing + 1) }
        return members.joined(separator: "--c\r\n")
      }
    }
    let rig = try await UploadRig(.init(isV2: isV2, rollsBack: false, respondsToEach: true, shapesParts: shape))
    let created = try await rig.create("Orders", key: -1, ["Name": .string("good")])
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("good")], unit: created.id)
    try await rig.create("Orders", key: -2, ["Name": .string("poison")], unit: created.id)
    let report = try await rig.store.upload(OfflineODataUploadOptions(settlingTime: .zero))
    #expect(report.sent == 2 && report.failed == 1, "\(report)")
    #expect(try await rig.queue == ["3|2"])
    #expect(rig.service.log.count == 2)
  }

  @Test(
    "A creation that is reported as done beside an error is found by the key in its response, though the service has changed its values",
    arguments: [false, true], [false, true])
  func keyInResponse(isV2: Bool, isSilent: Bool) async throws {
    let withoutFirst: @Sendable ([String]) -> [String] = { parts in
      parts.map { part in
        var members = part.components(separatedBy: "--c\r\n")
        if members.count == 4 { members.remove(at: 1) }
        return members.joined(separator: "--c\r\n")
      }
    }
    let rig = try await UploadRig(
      .init(
        isV2: isV2, rollsBack: false, respondsToEach: true, isSilent: isSilent, capitalizes: true,
        shapesParts: withoutFirst))
    let first = try await rig.create("Orders", key: -1, ["Name": .string("first")])
    try await rig.create("Orders", key: -2, ["Name": .string("second")], unit: first.id)
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("poison")], unit: first.id)
    let report = try await rig.store.upload(OfflineODataUploadOptions(settlingTime: .zero))
    // The first one has no response, and the values that the service has are others than those that were sent.
    #expect(report.sent == 1 && report.failed == 2, "\(report)")
    #expect(try await rig.queue == ["1|2", "3|2"])
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} WHERE ID > 1000") == ["1001|SECOND"])
    #expect(rig.service.log == ["POST Orders(1000)", "POST Orders(1001)"])
  }

  @Test(
    "A creation that a failed change set reports as done, with nothing but a key, is not an entity that another client has made",
    arguments: [false, true], [false, true])
  func keyAloneInResponse(isV2: Bool, isDone: Bool) async throws {
    let shape: @Sendable ([String]) -> [String] = { parts in
      parts.map { isDone ? $0 : $0.replacing("1000", with: "2000") }
    }
    let rig = try await UploadRig(
      .init(isV2: isV2, rollsBack: !isDone, respondsToEach: true, isPartial: true, shapesParts: shape))
    rig.service.change { $0.sets["Orders"]?[2000] = .init(values: ["ID": "2000", "Name": "\"theirs\"", "Total": "1"]) }
    let first = try await rig.create("Orders", key: -1, ["Name": .string("mine")])
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("poison")], unit: first.id)
    let report = try await rig.store.upload(OfflineODataUploadOptions(settlingTime: .zero))
    #expect(report.sent == (isDone ? 1 : 0) && report.failed == (isDone ? 1 : 2), "\(report)")
    #expect(try await rig.queue == (isDone ? ["2|2"] : ["1|2", "2|2"]))
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} WHERE ID >= 1000") == (isDone ? ["1000|mine"] : []))
  }

  @Test(
    "A creation of a change set that was taken back is not another client's entity that came under its key",
    arguments: [false, true])
  func keyOfAnother(isV2: Bool) async throws {
    // The key is taken back too, and another client's entity has it by the time of the look-up.
    let shape: @Sendable ([String]) -> [String] = { parts in
      parts.map { $0.replacing("Orders(1000)", with: "Orders(900)") }
    }
    let rig = try await UploadRig(.init(isV2: isV2, respondsToEach: true, isSilent: true, shapesParts: shape))
    let first = try await rig.create("Orders", key: -1, ["Name": .string("Main Street")])
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("poison")], unit: first.id)
    rig.service.change { $0.sets["Orders"]?[900] = .init(values: ["ID": "900", "Name": "\"Main\""]) }
    let report = try await rig.store.upload(OfflineODataUploadOptions(settlingTime: .zero))
    #expect(report.sent == 0 && report.failed == 2, "\(report)")
  }

  @Test("A change set of which all is done and one response is missing is done, once", arguments: [false, true])
  func wholeChangeSet(isV2: Bool) async throws {
    let shape: @Sendable ([String]) -> [String] = { parts in
      parts.map { part in
        var members = part.components(separatedBy: "--c\r\n")
        if members.count == 3 { members.remove(at: 1) }
        return members.joined(separator: "--c\r\n")
      }
    }
    let rig = try await UploadRig(.init(isV2: isV2, shapesParts: shape))
    let created = try await rig.create("Orders", key: -1, ["Name": .string("good")])
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("good")], unit: created.id)
    let report = try await rig.store.upload(OfflineODataUploadOptions(settlingTime: .zero))
    #expect(report.sent == 2 && report.failed == 0 && report.pending == 0, "\(report)")
    #expect(rig.service.log.count == 2)
  }
}
