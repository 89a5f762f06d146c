// The static libraries of MUMPS may have been built with Scotch as one of several orderings. It is
// never used here: these stubs only define the names.
extern "C" {
#define BLOCKSPAN_ABSENT(name) \
  int name();                  \
  int name() { return 1; }
BLOCKSPAN_ABSENT(esmumps)
BLOCKSPAN_ABSENT(esmumpsv)
BLOCKSPAN_ABSENT(SCOTCH_graphBuild)
BLOCKSPAN_ABSENT(SCOTCH_graphExit)
BLOCKSPAN_ABSENT(SCOTCH_graphInit)
BLOCKSPAN_ABSENT(SCOTCH_graphOrder)
BLOCKSPAN_ABSENT(SCOTCH_stratExit)
BLOCKSPAN_ABSENT(SCOTCH_stratInit)
BLOCKSPAN_ABSENT(scotchfgraphbuild_)
BLOCKSPAN_ABSENT(scotchfgraphexit_)
BLOCKSPAN_ABSENT(scotchfgraphpart_)
BLOCKSPAN_ABSENT(scotchfstratexit_)
BLOCKSPAN_ABSENT(scotchfstratinit_)
}
