import Foundation
import LarderHTTP
import Synchronization

/// A V4 service whose responses are full of texts that are found nowhere else.
final class MarkedService: HTTPTransport {
  /// What a text is of.
  enum Marker: String, CaseIterable {
    // What the service says.
    case row, etag, media, mediaType, delta, staged, rejection, cookie
    // What the application says.
    case queryName, queryText, header, created, changed, newMedia, tag, field

    /// Found in the files of one service's store alone, which `run` names.
    func text(_ run: String) -> String { "Merkwort-\(rawValue)-\(run)-7f3a91c2e4d05b68" }

    /// Whether it is of those that the store keeps: sessions and the application's own fields are not.
    var isStored: Bool { self != .cookie && self != .header }
  }

  private let interruptsChanges = Atomic(false)
  private let run: String

  init(run: String) { self.run = run }

  /// From now on the second page of changes never comes.
  func interrupt() { interruptsChanges.store(true, ordering: .relaxed) }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let url = request.url.absoluteString
    let path = url.components(separatedBy: "/s/").last ?? ""
    guard request.method.isSafe else { return rejection(request) }
    if path.hasPrefix("$metadata") { return response(request, "application/xml", MarkedService.metadata) }
    if path.hasSuffix("/$value") {
      let bytes = String(repeating: mark(.media), count: 9000)
      return response(request, "image/" + mark(.mediaType), bytes)
    }
    if path.hasPrefix("Photos") { return json(request, "{\"value\":[\(row(1))]}") }
    guard path.contains("token") else {
      return json(
        request, "{\"value\":[\(row(1)),\(row(2))],\"@odata.deltaLink\":\"Rows?$deltatoken=\(mark(.delta))\"}")
    }
    guard interruptsChanges.load(ordering: .relaxed) else { return json(request, "{\"value\":[]}") }
    guard path.contains("deltatoken") else { throw .connectionLost(reason: "cut") }
    let changed = "{\"ID\":1,\"Text\":\"\(mark(.staged))\"}"
    return json(request, "{\"value\":[\(changed)],\"@odata.nextLink\":\"Rows?$skiptoken=2\"}")
  }

  private func mark(_ marker: Marker) -> String { marker.text(run) }

  private func row(_ id: Int) -> String {
    "{\"@odata.etag\":\"\\\"\(mark(.etag))\\\"\",\"ID\":\(id),\"Text\":\"\(mark(.row))\"}"
  }

  private func rejection(_ request: HTTPRequest) -> HTTPResponse {
    let body = "{\"error\":{\"code\":\"x\",\"message\":\"\(mark(.rejection))\"}}"
    return response(request, "application/json", body, status: 400)
  }

  private func json(_ request: HTTPRequest, _ body: String) -> HTTPResponse {
    response(request, "application/json", body)
  }

  private func response(_ request: HTTPRequest, _ type: String, _ body: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(
      status: status,
      fields: [.contentType: type, .odataVersion: "4.0", "Set-Cookie": "session=\(mark(.cookie))"], url: request.url,
      body: HTTPBodyStream(Array(body.utf8)))
  }

  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Row"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Text" Type="Edm.String"/></EntityType>
    <EntityType Name="Photo" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Rows" EntityType="N.Row"/><EntitySet Name="Photos" EntityType="N.Photo"/>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """
}
