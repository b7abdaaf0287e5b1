import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Streams are sent under ETags of their own", .timeLimit(.minutes(1)))
struct UploadMediaTests {
  private static let picture = ODataRequestBody.bytes(Array("new".utf8), contentType: "image/y")
  private static let other = ODataRequestBody.bytes(Array("newer".utf8), contentType: "image/y")

  private func title(_ text: String) -> ODataEntity {
    ODataEntity(properties: [ODataProperty("Title", .string(text))])
  }

  @Test(
    "The bytes of a photo and its icon go under the stream's ETag (Protocol 4.01 §11.4.7.2, [MS-ODATA] 3.1.4.4.1)",
    arguments: [false, true], [false, true])
  func conditions(isV2: Bool, requires: Bool) async throws {
    let service = MediaService { ($0.isV2, $0.requiresIfMatch) = (isV2, requires) }
    let folder = try TemporaryFolder()
    let store = try await service.store(folder)
    try await store.updateMedia("Photos(1)/$value", to: Self.picture)
    if !isV2 {
      try await store.updateMedia("Photos(1)/Icon", to: Self.picture)
      try await store.delete("Photos(2)/Icon")
    }
    let report = try await store.upload(OfflineODataUploadOptions(lanes: 1))
    #expect(report.failed == 0 && report.pending == 0, "\(report)")
    let icons = isV2 ? [] : [#"DELETE Photos(2)/Icon if "i1" "#, #"PUT Photos(1)/Icon if "i1" new"#]
    #expect(service.now.log.sorted() == (icons + [#"PUT Photos(1)/$value if "m1" new"#]).sorted())
  }

  @Test(
    "What another client has stored there is not lost; what another client did to the photo hinders nothing",
    arguments: [false, true])
  func conflict(isV2: Bool) async throws {
    let service = MediaService { $0.isV2 = isV2 }
    let folder = try TemporaryFolder()
    let store = try await service.store(folder)
    try await store.updateMedia("Photos(1)/$value", to: Self.picture)
    try await store.updateMedia("Photos(2)/$value", to: Self.picture)
    service.edit(1) { ($0.bytes, $0.mediaVersion) = ("another's", 2) }
    service.edit(2) { ($0.title, $0.version) = ("another's", 2) }
    let report = try await store.upload()
    #expect(report.sent == 1 && report.failed == 1 && report.pending == 0, "\(report)")
    #expect(service.now.photos[1]?.bytes == "another's" && service.now.photos[2]?.bytes == "new")
    // Mine, said by a person: under the ETag that the stream has now.
    try await store.retry(1)
    #expect(try await store.upload().sent == 1)
    #expect(service.now.log.last == #"PUT Photos(1)/$value if "m2" new"#)
  }

  @Test("The application's bytes win where it says so, over the version that is there", arguments: [false, true])
  func clientWins(isV2: Bool) async throws {
    let service = MediaService { $0.isV2 = isV2 }
    let folder = try TemporaryFolder()
    let store = try await service.store(folder)
    try await store.updateMedia("Photos(1)/$value", to: Self.picture)
    service.edit(1) { ($0.bytes, $0.mediaVersion) = ("another's", 5) }
    let report = try await store.upload(OfflineODataUploadOptions(conflictPolicy: .clientWins))
    #expect(report.sent == 1 && report.failed == 0, "\(report)")
    #expect(service.now.log == [#"PUT Photos(1)/$value if "m5" new"#])
  }

  @Test(
    "The next change of a stream goes under the ETag that the one before has given it, that of the photo under the photo's",
    arguments: [(true, true), (false, true), (true, false), (false, false)], [false, true])
  func learned(behavior: (reports: Bool, bumps: Bool), isV2: Bool) async throws {
    let service = MediaService {
      ($0.isV2, $0.returnsETag, $0.bumpsPhoto, $0.requiresIfMatch) = (isV2, behavior.reports, behavior.bumps, true)
    }
    let folder = try TemporaryFolder()
    let store = try await service.store(folder)
    try await store.updateMedia("Photos(1)/$value", to: Self.picture)
    try await store.updateMedia("Photos(1)/$value", to: Self.other)
    try await store.update("Photos(1)", to: title("z"))
    let report = try await store.upload(OfflineODataUploadOptions(lanes: 1))
    #expect(report.sent == 3 && report.failed == 0, "\(report)")
    let method = isV2 ? "MERGE" : "PATCH"
    #expect(
      service.now.log == [
        #"PUT Photos(1)/$value if "m1" new"#, #"PUT Photos(1)/$value if "m2" newer"#,
        "\(method) Photos(1) if W/\"p\(behavior.bumps ? 3 : 1)\"",
      ])
    #expect(!service.now.requests.contains { $0.hasPrefix("PUT") && !$0.contains(" if ") })
    // The next upload knows it, too.
    try await store.updateMedia("Photos(1)/$value", to: Self.picture)
    #expect(try await store.upload().sent == 1)
    #expect(service.now.log.last == #"PUT Photos(1)/$value if "m3" new"#)
  }

  @Test("A stream whose ETag is not known, at a service that requires one: it is requested", arguments: [false, true])
  func unknown(isV2: Bool) async throws {
    let service = MediaService { ($0.isV2, $0.listsMediaETags, $0.requiresIfMatch) = (isV2, false, true) }
    let folder = try TemporaryFolder()
    let store = try await service.store(folder)
    try await store.updateMedia("Photos(1)/$value", to: Self.picture)
    let report = try await store.upload()
    #expect(report.sent == 1 && report.failed == 0, "\(report)")
    #expect(service.now.log == [#"PUT Photos(1)/$value if "m1" new"#])
  }

  @Test("--if-match takes the stream's ETag, and no other")
  func ifMatch() async throws {
    let service = MediaService()
    let folder = try TemporaryFolder()
    let store = try await service.store(folder)
    try await store.updateMedia("Photos(1)/$value", to: Self.picture, ifMatch: "\"m1\"")
    try await store.updateMedia("Photos(1)/Icon", to: Self.picture, ifMatch: "\"i1\"")
    for wrong in ["\"m1\"", "W/\"p1\""] {
      let error = await #expect(throws: OfflineODataError.self) {
        try await store.updateMedia("Photos(2)/Icon", to: Self.picture, ifMatch: wrong)
      }
      #expect(error?.name == .entityChanged)
    }
    #expect(try await store.upload().sent == 2)
  }

  @Test(
    "A media entity is not made of values: its request would take them for the picture (Protocol 4.01 §11.4.7.1)",
    arguments: [false, true])
  func values(isV2: Bool) async throws {
    let service = MediaService { $0.isV2 = isV2 }
    let folder = try TemporaryFolder()
    let store = try await service.store(folder)
    let error = await #expect(throws: OfflineODataError.self) {
      try await store.create(title("lost"), in: "Photos")
    }
    #expect(
      error?.name == .unfittingBody && error?.description.contains("createMedia") == true,
      "\(String(describing: error))")
    let nested = ODataNavigationLink(
      name: "Photos", content: .collection(ODataEntityCollection(entities: [title("lost")])))
    let album = ODataEntity(properties: [ODataProperty("ID", .int32(8))], navigationLinks: [nested])
    await #expect(throws: OfflineODataError.self) { try await store.create(album, in: "Albums") }
    #expect(try await store.hasPendingChanges() == false)
    // The cure: bytes first, then the values.
    try await store.createMedia(Self.picture, in: "Photos", slug: "new.png")
    let created = try #require(try await store.readEntitySet("Photos?$filter=ID lt 0").entities.first?["ID"])
    guard case .int32(let key) = created else {
      Issue.record("\(created)")
      return
    }
    try await store.update("Photos(\(key))", to: title("kept"))
    let report = try await store.upload()
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    #expect(service.now.photos[3]?.bytes == "new" && service.now.photos[3]?.title == "kept")
    #expect(service.now.slugs == ["new.png"])
  }

  // MARK: Links

  @Test(
    "A link to one goes under the ETag of the entity that has it, a link to many under none (Protocol 4.01 §11.4.1.1)")
  func links() async throws {
    let service = MediaService { $0.requiresIfMatch = true }
    let folder = try TemporaryFolder()
    let store = try await service.store(folder)
    try await store.updateLink("Photos(1)/Album/$ref", to: "Albums(7)")
    try await store.update("Photos(1)", to: title("z"))
    try await store.createLink("Albums(7)/Photos/$ref", to: "Photos(2)")
    let report = try await store.upload(OfflineODataUploadOptions(lanes: 1))
    #expect(report.sent == 3 && report.failed == 0, "\(report)")
    let requests = service.now.requests.filter { !$0.hasPrefix("GET") }
    #expect(
      requests == [
        #"PUT Photos(1)/Album/$ref if W/"p1""#, #"PATCH Photos(1) if W/"p2""#, "POST Albums(7)/Photos/$ref",
      ])
    try await store.deleteLink("Photos(1)/Album/$ref")
    #expect(try await store.upload().sent == 1)
    #expect(service.now.log.last == #"DELETE Photos(1)/Album/$ref if W/"p3""#)
  }

  @Test("Another has changed the entity since: the link to one is a conflict")
  func linkConflict() async throws {
    let service = MediaService()
    let folder = try TemporaryFolder()
    let store = try await service.store(folder)
    try await store.updateLink("Photos(1)/Album/$ref", to: "Albums(7)")
    service.edit(1) { ($0.title, $0.version) = ("another's", 4) }
    let report = try await store.upload()
    #expect(report.sent == 0 && report.failed == 1)
    #expect(service.now.photos[1]?.album == nil)
  }

  @Test(
    "Before V4 links carry no condition ([MS-ODATA] 3.1.4.4.1), unless the service requires one",
    arguments: [false, true])
  func linksV2(requires: Bool) async throws {
    let service = MediaService { ($0.isV2, $0.requiresIfMatch) = (true, requires) }
    let folder = try TemporaryFolder()
    let store = try await service.store(folder)
    try await store.updateLink("Photos(1)/$links/Album", to: "Albums(7)")
    let report = try await store.upload()
    #expect(report.sent == 1 && report.failed == 0, "\(report)")
    #expect(service.now.log == [requires ? #"PUT Photos(1)/$links/Album if W/"p1""# : "PUT Photos(1)/$links/Album"])
  }
}
