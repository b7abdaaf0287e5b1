// Modules that import LarderHTTP can use these types without importing LarderCore.
@_exported public import struct LarderCore.ErrorExchange
@_exported public import struct LarderCore.ErrorExplanation
@_exported public import struct LarderCore.ErrorIdentity
@_exported public import struct LarderCore.LarderDiagnostic
@_exported public import struct LarderCore.LarderEnvironment
@_exported public import protocol LarderCore.LarderError
