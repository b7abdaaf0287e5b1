import LarderCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

LarderProcess.prepare()
exit(await LarderProcess.run())
