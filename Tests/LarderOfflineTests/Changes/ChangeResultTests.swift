import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("The results of changes", .timeLimit(.minutes(1)))
struct ChangeResultTests {
  @Test("Each of many entities is shown as a query for it shows it, in the requested format")
  func shown() async throws {
    let rig = try await ChangeMakingTests.filled()
    for (number, accept) in ["application/json", "application/json;odata.metadata=full"].enumerated() {
      for name in ["Ann", "Ben", "Cat"] {
        let entity = ODataEntity(properties: [.init("Name", .string("\(name) \(number)")), .init("Level", .int32(4))])
        var request = ODataSingleRequest.create(entity, in: "Customers")
        request.fields[.accept] = accept
        let created = try await rig.change(request)
        let path = try #require(created.fields[.location]?.dropFirst("http://h/s/".count)).description
        let text = String(decoding: created.payloadBytes, as: UTF8.self)
        #expect(text.contains("\"\(name) \(number)\""), "\(text)")
        var read = ODataSingleRequest.read(path)
        read.fields[.accept] = accept
        let options = OfflineODataResultOptions(read)
        #expect(String(decoding: try await rig.store.json(path, options).bytes, as: UTF8.self) == text)
      }
    }
  }

  @Test("Entities that contain, are contained, or have keys of texts are shown too")
  func others() async throws {
    let rig = try await ChangeMakingTests.filled()
    let order = "Orders(\(ChangeMakingTests.order))"
    for number in [7, 8] {
      let created = try await rig.change(
        .create(ODataEntity(properties: [.init("No", .int32(Int32(number)))]), in: "\(order)/Items"))
      #expect(String(decoding: created.payloadBytes, as: UTF8.self).contains("\"No\":\(number)"))
      let tag = try await rig.change(
        .create(ODataEntity(properties: [.init("Name", .string("it's \(number)"))]), in: "Tags"))
      #expect(String(decoding: tag.payloadBytes, as: UTF8.self).contains("\"it's \(number)\""))
    }
  }
}
