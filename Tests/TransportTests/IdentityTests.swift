import Foundation
import LarderCurl
import LarderHTTP
import Testing

@Suite("The identity of a connection", .timeLimit(.minutes(5)))
struct IdentityTests {
  @Test("two client certificates are two identities; without one there is none")
  func certificates() throws {
    func transport(_ certificate: String?) throws -> CurlTransport {
      var options = CurlTransport.Options()
      options.clientCertificate = certificate.map { .init(certificate: .bytes(Array($0.utf8))) }
      return try CurlTransport(options)
    }
    let ann = "-----BEGIN CERTIFICATE-----\nann\n-----END CERTIFICATE-----"
    let bob = "-----BEGIN CERTIFICATE-----\nbob\n-----END CERTIFICATE-----"
    #expect(try transport(nil).identity.isEmpty)
    #expect(try !transport(ann).identity.isEmpty)
    #expect(try transport(ann).identity == transport(ann).identity)
    #expect(try transport(ann).identity != transport(bob).identity)
    let key = "-----BEGIN EC PRIVATE KEY-----\nsecret\n-----END EC PRIVATE KEY-----\n"
    #expect(try transport(key + ann).identity == transport(ann + "\n" + key).identity)
    let identity = try #require(Data(base64Encoded: transport(key + ann).identity))
    #expect(!String(decoding: identity, as: UTF8.self).contains("secret"))
  }
}
