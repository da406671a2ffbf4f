/* Between main.cc and source.cc: what needs Clang's trees. */
#ifndef PM_CLANG_SOURCE_H
#define PM_CLANG_SOURCE_H

#include "backend.h"

namespace clang
{
class ASTContext;
}

/* Reads all functions of the unit: when the whole unit was parsed. */
void pm_source_read(clang::ASTContext &context);

/* The folder that names of files are relative to. */
const std::string &pm_working_folder(void);

#endif
